/** The actions of capabilities. Extend uses the capability of apply. All others need a capability in every flow. */
export const CAPABILITY_ACTIONS = ['apply', 'remove', 'repair', 'accept', 'renew', 'adopt', 'release'] as const
export type CapabilityAction = (typeof CAPABILITY_ACTIONS)[number]
