/** Lives of claims and answers of the recorded chains, in full. */
import './mining/claimPreview.test.js';
import '../differential/ordinaryBlock.test.js';
import './store/claims/claimModel.test.js';
import './store/claims/explorer.test.js';
import './store/claims/query/pastNodes.test.js';
import '../vectors/claimAnswers.test.js';
import './chain/failedBranches.test.js';
