import { expect, test } from 'vitest'
import { isAdminToken } from '../../../src/authorize/credentials.ts'
import { admitNetwork, type FlowRules, type PresentedCredentials, requiredProof } from '../../../src/authorize/flows.ts'
import { Problem } from '../../../src/model/errors.ts'

const CAPABILITY: FlowRules = { flow: 'capability', adminToken: 'off' }
const BREAK_GLASS: FlowRules = { flow: 'capability', adminToken: 'internal' }
const LEGACY: FlowRules = { flow: 'legacy', adminToken: 'off' }
const INSIDE = { network: 'internal', capability: undefined, adminToken: undefined } as const
const inside = (shown: Partial<PresentedCredentials> = {}): PresentedCredentials => ({ ...INSIDE, ...shown })
const outside = (shown: Partial<PresentedCredentials> = {}) => inside({ network: 'public', ...shown })
const TOKEN = { adminToken: 't' }
const BOTH_SENT = { ...TOKEN, capability: 'c' }

const outcome = (work: () => unknown): unknown => {
  try {
    return work() ?? 'admitted'
  } catch (error) {
    return error instanceof Problem ? error.code : error
  }
}

test.each([
  ['capability flow, inside', CAPABILITY, inside(), 'admitted'],
  ['capability flow, outside', CAPABILITY, outside(), 'internal_network_required'],
  ['capability flow, outside with a token', CAPABILITY, outside({ adminToken: 't' }), 'internal_network_required'],
  ['break-glass, outside with a token', BREAK_GLASS, outside({ adminToken: 't' }), 'internal_network_required'],
  ['legacy, inside', LEGACY, inside(), 'admitted'],
  ['legacy, outside', LEGACY, outside(), 'internal_network_required'],
  ['legacy, outside with a capability only', LEGACY, outside({ capability: 'c' }), 'internal_network_required'],
  ['legacy, outside with a token, right or wrong', LEGACY, outside({ adminToken: 't' }), 'admitted'],
])('the network: %s: %s', (_name, rules, showing, expected) =>
  expect(outcome(() => admitNetwork(rules, showing))).toBe(expected),
)

const NOTHING = { capability: false, adminToken: false }
const ITS_CAPABILITY = { capability: true, adminToken: false }
const THE_TOKEN = { capability: false, adminToken: true }
const BOTH = { capability: true, adminToken: true }

test.each([
  ['a token request needs the network only', CAPABILITY, 'token', inside(), NOTHING],
  ['apply without anything', CAPABILITY, 'apply', inside(), 'capability_required'],
  ['apply with a capability', CAPABILITY, 'apply', inside({ capability: 'c' }), ITS_CAPABILITY],
  ['an administrator token when off', CAPABILITY, 'apply', inside(TOKEN), 'capability_required'],
  ['break-glass', BREAK_GLASS, 'remove', inside({ adminToken: 't' }), THE_TOKEN],
  ['both sent: the capability decides', BREAK_GLASS, 'apply', inside(BOTH_SENT), ITS_CAPABILITY],
  ['renew without anything', CAPABILITY, 'renew', inside(), 'capability_required'],
  ['renew with a capability', CAPABILITY, 'renew', inside({ capability: 'c' }), ITS_CAPABILITY],
  ['renew is no break-glass', BREAK_GLASS, 'renew', inside({ adminToken: 't' }), 'capability_required'],
  ['legacy renew inside', LEGACY, 'renew', inside(), 'capability_required'],
  ['legacy renew outside', LEGACY, 'renew', outside({ adminToken: 't', capability: 'c' }), BOTH],
  ['legacy apply inside', LEGACY, 'apply', inside(), NOTHING],
  ['legacy apply inside, capability sent', LEGACY, 'apply', inside({ capability: 'c' }), ITS_CAPABILITY],
  ['legacy apply inside, token sent', LEGACY, 'apply', inside({ adminToken: 't' }), THE_TOKEN],
  ['legacy remove inside', LEGACY, 'remove', inside(), 'capability_required'],
  ['legacy remove inside, capability sent', LEGACY, 'remove', inside({ capability: 'c' }), ITS_CAPABILITY],
  ['legacy token outside', LEGACY, 'token', outside({ adminToken: 't' }), THE_TOKEN],
  ['legacy apply outside', LEGACY, 'apply', outside({ adminToken: 't' }), THE_TOKEN],
  ['legacy remove outside without capability', LEGACY, 'remove', outside({ adminToken: 't' }), 'capability_required'],
  ['legacy remove outside', LEGACY, 'remove', outside({ adminToken: 't', capability: 'c' }), BOTH],
] as const)('the proof: %s', (_name, rules, action, showing, expected) =>
  expect(outcome(() => requiredProof(rules, action, showing))).toEqual(expected),
)

test('the administrator token is the one that is configured, and nothing without one', () => {
  expect(isAdminToken('right', 'right')).toBe(true)
  for (const presented of ['wrong', '']) expect(isAdminToken(presented, 'right')).toBe(false)
  for (const presented of ['', 'undefined']) expect(isAdminToken(presented, undefined)).toBe(false)
  expect(isAdminToken('', '')).toBe(false)
})

test('whoever has no capability is told which one to get, in both flows', () => {
  for (const rules of [CAPABILITY, LEGACY]) {
    const refused = outcomeOf(() => requiredProof(rules, 'remove', inside()))
    expect(refused.members.nextAction).toContain('with action: remove')
  }
})

function outcomeOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('It was not refused.')
}
