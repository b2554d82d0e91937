import { describe, expect, test } from 'vitest'
import { commandsFor } from '../../../src/cli/next-action.ts'
import { adviceIn } from '../../../src/client/advice.ts'
import type { CauseCode } from '../../../src/diagnose/causes.ts'
import { diagnose } from '../../../src/diagnose/diagnose.ts'
import { TOOLS_FOR } from '../../../src/mcp/failure.ts'
import type { Evidence, ExposureEvidence } from '../../../src/model/evidence.ts'
import { AT, certificate, sampleEvidence } from '../../support/evidence.ts'

const DAY = 86_400_000
const servers = { '23': '192.168.45.23' }
const inside = { network: 'internal', servers, configFile: '/etc/drawbridge/drawbridge.yaml' } as const
const outside = { ...inside, network: 'public' } as const
const WELL = sampleEvidence()

type Differences = ExposureEvidence['differences']
const exposed = (differences: Differences, more: Partial<ExposureEvidence> = {}): Partial<Evidence> => ({
  exposure: { planId: 'plan_1', state: 'applied', renews: true, differences, ...more },
})
const lost = (...parts: ('entry' | 'record' | 'mark' | 'certificate')[]) =>
  parts.map((part) => ({ part, overwrite: false }))
const changed = (...parts: ('entry' | 'record' | 'mark' | 'certificate')[]) =>
  parts.map((part) => ({ part, overwrite: true }))

const edited = { file: 'edited' } as const
const gone = { file: 'missing' } as const
const nameless: Partial<Evidence> = { name: { kind: 'missing' }, records: 'not_ours' }
const elsewhere: Partial<Evidence> = { name: { kind: 'elsewhere', found: ['203.0.113.9'] }, records: 'not_ours' }
const unmarked: Partial<Evidence> = { records: 'not_ours' }
const expired: Partial<Evidence> = { tls: { ...certificate, notAfter: AT - 1 } }
const expiring: Partial<Evidence> = { tls: { ...certificate, notBefore: AT - 80 * DAY, notAfter: AT + 10 * DAY } }
const early: Partial<Evidence> = { tls: { ...certificate, notBefore: AT + DAY } }
const wrongName: Partial<Evidence> = { tls: { ...certificate, coversHost: false } }
const handshake = { visit: { kind: 'no_answer', reason: 'handshake_refused' } } as const
const refused: Partial<Evidence> = { tls: { kind: 'refused' }, ...handshake }
const lostAndChanged = exposed([...lost('record'), ...changed('entry')])

const REPAIR = ['repair']
const FOREIGN = ['overwrite', 'accept']
const RENEW = ['renew']

test.each<[string, CauseCode, readonly string[], Partial<Evidence>]>([
  ['an edited entry', 'file_edited', FOREIGN, { ...edited, ...exposed(changed('entry')) }],
  ['an entry that is gone', 'file_missing', REPAIR, { ...gone, ...exposed(lost('entry')) }],
  ['certificate files that are gone', 'file_missing', REPAIR, { ...gone, ...exposed(lost('certificate')) }],
  ['one gone, one edited', 'file_missing', FOREIGN, { ...gone, ...exposed([...lost('entry'), ...changed('entry')]) }],
  ['a record that is gone', 'name_missing', REPAIR, { ...nameless, ...exposed(lost('record', 'mark')) }],
  ['a record gone, an entry edited', 'name_missing', FOREIGN, { ...nameless, ...lostAndChanged }],
  ['a record with another value', 'name_points_elsewhere', FOREIGN, { ...elsewhere, ...exposed(changed('record')) }],
  ['a wildcard in place of the record', 'name_points_elsewhere', REPAIR, { ...elsewhere, ...exposed(lost('record')) }],
  ['an owner mark that is gone', 'records_changed', REPAIR, { ...unmarked, ...exposed(lost('mark')) }],
  ['an owner mark of others', 'records_changed', FOREIGN, { ...unmarked, ...exposed(changed('mark')) }],
  ['an expired certificate of ours', 'certificate_expired', RENEW, expired],
  ['an expiring certificate of ours', 'certificate_expiring', RENEW, expiring],
  ['the same while the name is elsewhere', 'certificate_expiring', RENEW, { ...expiring, ...exposed(lost('mark')) }],
  ['the same while its entry is edited', 'certificate_expiring', RENEW, { ...expiring, ...exposed(changed('entry')) }],
  ['the same while its files are gone', 'certificate_expired', REPAIR, { ...expired, ...exposed(lost('certificate')) }],
  ['a certificate of an administrator', 'certificate_expired', [], { ...expired, ...exposed([], { renews: false }) }],
  ['a certificate that is not valid yet', 'certificate_expired', [], early],
  ['a certificate not applied', 'certificate_wrong_name', REPAIR, { ...wrongName, ...exposed(lost('certificate')) }],
  ['no certificate at all', 'tls_failed', REPAIR, { ...refused, ...exposed(lost('certificate')) }],
  ['no certificate for no known reason', 'tls_failed', [], refused],
  ['an edited entry, not compared', 'file_edited', FOREIGN, { ...edited, ...exposed(null) }],
  ['a missing record, not compared', 'name_missing', REPAIR, { ...nameless, ...exposed(null) }],
  ['a record elsewhere, not compared', 'name_points_elsewhere', FOREIGN, { ...elsewhere, ...exposed(null) }],
  ['an edited entry under a run', 'file_edited', [], { ...edited, ...exposed(null, { state: 'busy' }) }],
  ['an edited entry of a blocked run', 'blocked', ['resolve'], { ...edited, ...exposed(null, { state: 'blocked' }) }],
  ['a blocked run of a host that answers', 'blocked', ['resolve'], exposed(null, { state: 'blocked' })],
  [
    'a wrong one put there',
    'certificate_wrong_name',
    ['overwrite'],
    { ...wrongName, ...exposed(changed('certificate')) },
  ],
  ['no fault', 'healthy', [], {}],
])('%s (%s): %j', (_, code, acts, change) => {
  const evidence = { ...WELL, ...change }
  const { cause, planId } = diagnose(evidence, inside)
  expect([cause.code, cause.acts]).toEqual([code, acts])
  expect(planId).toBe(evidence.exposure?.planId)
  const told = diagnose(evidence, outside)
  expect(told.cause.acts).toEqual([])
  expect(told).not.toHaveProperty('planId')
  expect(told.cause.advice).not.toMatch(/\/api\/|drawbridge /)
})

test.each<[string, Partial<Evidence>]>([
  ['nameless', { name: { kind: 'missing' }, records: null }],
  ['elsewhere', { name: { kind: 'elsewhere', found: ['203.0.113.9'] }, records: null }],
  ['expired', expired],
  ['expiring', expiring],
  ['wrong name', wrongName],
])('for a host that is not ours no act is advised: %s', (_, change) => {
  const { cause } = diagnose({ ...WELL, managed: false, file: 'not_ours', exposure: null, ...change }, inside)
  expect(cause.acts).toEqual([])
  expect(cause.advice).not.toMatch(/POST|repair|accept|exposure|certificate folders/)
})

describe('the acts are told in the words of each interface', () => {
  const adviceOf = (change: Partial<Evidence>) => {
    const { cause } = diagnose({ ...WELL, ...change }, inside)
    const told = { ...cause, acts: [...cause.acts] }
    return [cause.advice, adviceIn(told, commandsFor('hello.lab.test')), adviceIn(told, TOOLS_FOR)]
  }

  test('something is missing', () =>
    expect(adviceOf({ ...gone, ...exposed(lost('entry')) })).toEqual([
      'Write it again as it was applied with POST /api/deploy/repair.',
      'Write it again as it was applied: drawbridge repair hello.lab.test.',
      'Call repair_exposure with this host.',
    ]))

  test('somebody changed something: discard or keep it', () =>
    expect(adviceOf({ ...edited, ...exposed(changed('entry')) })).toEqual([
      expect.stringMatching(/POST \/api\/deploy\/repair and overwrite: true.*POST \/api\/deploy\/accept/),
      expect.stringMatching(/drawbridge diff .* repair hello\.lab\.test --overwrite, .* accept hello\.lab\.test/),
      expect.stringMatching(
        /^Call compare_exposure and ask a person .* repair_exposure with overwrite: true.* accept_exposure/,
      ),
    ]))

  test('the certificate ends', () =>
    expect(adviceOf(expired)).toEqual([
      'Renew the certificate now with POST /api/deploy/renew.',
      'Renew the certificate now: drawbridge renew hello.lab.test.',
      'Call renew_certificate with this host.',
    ]))

  test('no act helps: the advice of the API', () => {
    const [http, ...others] = adviceOf({ visit: { kind: 'answer', httpStatus: 502, latencyMs: 3 } })
    expect(others).toEqual([http, http])
  })

  test('a run holds the host', () => {
    const [http, command, tool] = adviceOf({ ...edited, ...exposed(null, { state: 'blocked' }) })
    const resolve = /^Run on the server: drawbridge resolve \S+ --config \/etc\/drawbridge\/drawbridge\.yaml\. /
    expect([http, command]).toEqual([expect.stringMatching(resolve), http])
    expect(tool).toMatch(/^Stop, and ask a person\. Run on the server/)
    expect(adviceOf({ ...edited, ...exposed(null, { state: 'busy' }) })[0]).toContain('when the run has ended')
  })
})
