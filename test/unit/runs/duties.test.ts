import { expect, test } from 'vitest'
import { dutyReport, failedDuty } from '../../../src/runs/duties.ts'

const CHECKED = { checked: 0, changed: [], busy: [], failed: [] }
const CHANGED = [
  { host: 'a.test', badge: 'DRIFT' },
  { host: 'b.test', badge: 'HTTP 502' },
] as const
const inStep = { hosts: [], outOfStep: undefined }

test.each([
  ['recover: 1 run was finished.', true, dutyReport('recover', { finished: ['a.test'], failed: [] })],
  ['recover: no interrupted run was found.', true, dutyReport('recover', { finished: [], failed: [] })],
  [
    'recover: 2 runs were finished; 1 run could not be finished and will be tried again: c.test.',
    false,
    dutyReport('recover', { finished: ['a.test', 'b.test'], failed: ['c.test'] }),
  ],
  [
    'converge: 2 hosts brought into step on edge 73.',
    true,
    dutyReport('converge', [
      { server: '23', ...inStep },
      { server: '73', hosts: ['a.test', 'b.test'], outOfStep: undefined },
    ]),
  ],
  ['converge: every edge is in step.', true, dutyReport('converge', [{ server: '73', ...inStep }])],
  [
    'converge: edge 73 is not in step: nginx does not answer.',
    false,
    dutyReport('converge', [{ server: '73', hosts: [], outOfStep: 'nginx does not answer.' }]),
  ],
  ['expire: nothing was due.', true, dutyReport('expire', { removed: [], failed: [], waiting: 0 })],
  [
    'expire: 1 exposure was removed; 1 removal failed: b.test; 1 removal waits for another attempt.',
    false,
    dutyReport('expire', { removed: ['a.test'], failed: ['b.test'], waiting: 1 }),
  ],
  ['renew: nothing was due.', true, dutyReport('renew', { hosts: [], failed: [] })],
  [
    'renew: 2 hosts have a new certificate; 6 certificates were not renewed: 1, 2, 3, 4, 5 and 1 more.',
    false,
    dutyReport('renew', { hosts: ['a.test', 'b.test'], failed: ['1', '2', '3', '4', '5', '6'] }),
  ],
  [
    'marks: no owner mark names a plan.',
    true,
    dutyReport('marks', { rewritten: [], failed: [], withdrawn: [], left: [] }),
  ],
  [
    'marks: 2 owner marks were rewritten; 1 owner mark still names a plan and will be tried again: c.test.',
    false,
    dutyReport('marks', { rewritten: ['a.test', 'b.test'], failed: ['c.test'], withdrawn: [], left: [] }),
  ],
  ['check: 3 hosts were checked; no badge changed.', true, dutyReport('check', { ...CHECKED, checked: 3 })],
  [
    'check: 1 host was checked; 2 badges changed: a.test is DRIFT, b.test is HTTP 502; left to the run that changes the host: c.test.',
    true,
    dutyReport('check', { ...CHECKED, checked: 1, changed: CHANGED, busy: ['c.test'] }),
  ],
  [
    'check: 0 hosts were checked; no badge changed; 1 check failed: a.test.',
    false,
    dutyReport('check', { ...CHECKED, failed: ['a.test'] }),
  ],
  [
    'check: another instance on this store does this; run the command on its machine.',
    true,
    dutyReport('check', 'others_duty'),
  ],
  ['prune: nothing was old enough.', true, dutyReport('prune', { plans: 0, events: 0, auditLines: 0 })],
  ['prune: deleted: 1 plan, 3 audit lines.', true, dutyReport('prune', { plans: 1, events: 0, auditLines: 3 })],
  [
    'renew: this instance does not reach the edge; an instance that reaches it does this.',
    true,
    dutyReport('renew', 'no_edge'),
  ],
  ['prune: another instance is doing this.', false, dutyReport('prune', 'elsewhere')],
  [
    'expire: failed and will be tried again: An unexpected error occurred; see the log of the service.',
    false,
    failedDuty('expire', new Error('The database is gone.')),
  ],
])('a duty says in one sentence: %s', (sentence, ok, report) => expect(report).toMatchObject({ ok, sentence }))

test('a duty says in one sentence with at most 100 hosts beside it, and their number', () => {
  const finished = Array.from({ length: 1_000 }, (_, at) => `h${at}.test`)
  const report = dutyReport('recover', { finished, failed: [] })
  expect([report.changed, report.hosts.length]).toEqual([1_000, 100])
  const reason = 'x'.repeat(100_000)
  expect(dutyReport('converge', [{ server: '73', hosts: [], outOfStep: reason }]).sentence.length).toBeLessThan(600)
})
