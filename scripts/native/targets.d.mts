/** The machines that the addon is built for in advance. */
export const PREBUILT_TARGETS: readonly { readonly name: string }[];
