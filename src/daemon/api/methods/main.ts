/** Methods about the daemon itself: `status`, `version`, `stop`, `ffmpeg_find`. */
import { ffmpegFind, status, stop, version } from '../declarations/main.js';
import { implement, type MethodImplementation } from '../implement.js';

export const mainMethods: readonly MethodImplementation[] = [
  implement(status, ({ services }) => services.control.status()),
  implement(version, ({ services }) => services.control.version()),
  implement(ffmpegFind, ({ services }) => services.control.ffmpegStatus()),
  implement(stop, ({ services }) => {
    services.control.stop();
    return 'Shutting down';
  }),
];
