/** The targets for which the addon is prebuilt. */
export const PREBUILT_TARGETS: readonly { readonly name: string }[];
