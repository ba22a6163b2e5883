/** Reads the configuration of the object store from the settings and the usual environment variables. */
import { EnvironmentError } from '../../../util/text/environmentError.js';
import type { Settings } from '../../api/settings.js';
import type { S3Credentials, S3Place } from '../../objects/s3Bucket.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OffsitePlace {
  /** Name of the bucket for display: `s3://bucket/prefix`. */
  readonly name: string;
  readonly place: S3Place;
  readonly credentials: S3Credentials;
}

const DEFAULT_REGION = 'us-east-1';

/**
 * Value of the first of these variables that is set and not empty; null for none. Source: AWS SDKs and Tools Reference
 * Guide, "Environment variables".
 */
const variable = (environment: Environment, ...names: string[]): string | null =>
  names.map((name) => environment[name]).find((value) => value !== undefined && value !== '') ?? null;

/**
 * Object store that the setting `blob_store` names; null if the setting is empty. Throws `EnvironmentError` if access keys
 * are missing.
 */
export function offsitePlaceOf(
  settings: Pick<Settings, 'get'>,
  environment: Environment,
): OffsitePlace | null {
  const name = settings.get('blob_store').replace(/\/+$/, '');
  if (name === '') return null;
  const [bucket = '', ...folders] = name.slice('s3://'.length).split('/');
  const region =
    settings.get('blob_store_region') ||
    (variable(environment, 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? DEFAULT_REGION);
  const endpoint =
    settings.get('blob_store_endpoint') ||
    (variable(environment, 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL') ??
      `https://s3.${region}.amazonaws.com`);
  const ownAccess = settings.get('blob_store_access_key') || null;
  const accessKey = ownAccess ?? variable(environment, 'AWS_ACCESS_KEY_ID');
  const secretKey =
    (settings.get('blob_store_secret_key') || null) ?? variable(environment, 'AWS_SECRET_ACCESS_KEY');
  if (accessKey === null || secretKey === null)
    throw new EnvironmentError(
      `The blob store ${name} needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of the daemon, or ` +
        'the settings blob_store_access_key and blob_store_secret_key.',
    );
  return {
    name,
    place: {
      endpoint: endpoint.replace(/\/+$/, ''),
      region,
      bucket,
      prefix: folders.length === 0 ? '' : `${folders.join('/')}/`,
    },
    // The session token belongs to the AWS keys in the environment, so it is not used together with other keys.
    credentials: {
      accessKey,
      secretKey,
      sessionToken: ownAccess === null ? variable(environment, 'AWS_SESSION_TOKEN') : null,
    },
  };
}
