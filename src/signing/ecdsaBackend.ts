/** The curve arithmetic that keys and signatures use here: the addon's where it loads, else the best of the rest. */
import { defaultEcdsa, type EcdsaBackend } from '../crypto/ecdsa.js';
import { loadNative } from '../native/binding.js';

export function ecdsaBackend(): EcdsaBackend {
  return loadNative()?.ecdsa ?? defaultEcdsa;
}
