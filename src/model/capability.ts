/** What a capability can be for. Each action but apply and extend, which goes by apply's, needs one of its own in every flow. */
export const CAPABILITY_ACTIONS = ['apply', 'remove', 'renew'] as const
export type CapabilityAction = (typeof CAPABILITY_ACTIONS)[number]
