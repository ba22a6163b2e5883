/** `/help`: the terms of the pages and their meanings. */
import { Section } from '../../page/components.js';
import { TERMS } from '../../page/terms.js';
import type { Page } from '../pageContext.js';

export const help: Page = () =>
  Promise.resolve({
    title: 'Words of these pages',
    description: 'The terms of the LBRY chain that these pages use.',
    topics: ['tip'],
    body: (
      <>
        <h1>Words of these pages</h1>
        <p>
          Everybody can publish on the LBRY chain. A claim puts content, or a channel, under a name and bids
          LBC for the name. The claim with the most LBC holds the name, so a link to the name leads to it.
        </p>
        <Section title="Terms">
          <dl class="terms">
            {[...TERMS].map(([term, meaning]) => (
              <div>
                <dt>{term}</dt>
                <dd>{meaning}.</dd>
              </div>
            ))}
          </dl>
        </Section>
      </>
    ),
  });
