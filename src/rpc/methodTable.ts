/** Every RPC method of the node, by category. A method exists when it is listed here. */
import type { RpcMethod } from './method.js';
import { discover } from './methods/control/discover.js';
import { getMemoryInfo } from './methods/control/getMemoryInfo.js';
import { help } from './methods/control/help.js';
import { logging } from './methods/control/logging.js';
import { stop } from './methods/control/stop.js';
import { uptime } from './methods/control/uptime.js';
import { echo, echoJson } from './methods/hidden/echo.js';

export const METHODS: readonly RpcMethod[] = [
  // control
  discover,
  getMemoryInfo,
  help,
  logging,
  stop,
  uptime,
  // hidden
  echo,
  echoJson,
];
