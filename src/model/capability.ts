/** The actions of capabilities. Extend uses the capability of apply. Remove and renew need a capability in every flow. */
export const CAPABILITY_ACTIONS = ['apply', 'remove', 'renew'] as const
export type CapabilityAction = (typeof CAPABILITY_ACTIONS)[number]
