import type { Guard } from './guard.ts'

const CONVERGE = 'src/runs/converge.ts'
const COMPARE = 'src/runs/compare-edge.ts'
const EXPOSURES = 'src/store/queries/exposures.ts'
const CONVERGE_TEST = 'test/integration/runs/converge.test.ts'
const STORE_TEST = 'test/contract/store-on-sqlite.test.ts'
const EXPIRY_TEST = 'test/unit/runs/expiry.test.ts'
const EXPOSER_TEST = 'test/integration/runs/exposer.test.ts'

/** What the service does by itself: nothing that a person would have to decide, and nothing too early. */
export const CONVERGE_GUARDS: readonly Guard[] = [
  {
    name: 'a doubtful removal of many hosts needs a person',
    file: CONVERGE,
    from: 'const isTooMuch = doubtful.length > limit',
    to: 'const isTooMuch = doubtful.length > limit && false',
    breaks: 'A store that was restored from an old copy would take newer hosts off the edge.',
    test: CONVERGE_TEST,
  },
  {
    name: 'hosts that the store does not know stay on the edge',
    file: COMPARE,
    from: '      if (!plan) unknown.push(host)\n',
    to: '      if (!plan) ended.push({ host, planId })\n',
    breaks: 'The hosts of another installation would be taken off an edge.',
    test: CONVERGE_TEST,
  },
  {
    name: 'a host whose removal nobody has seen is doubtful',
    file: COMPARE,
    from: '    if (!last || number === undefined) return false\n',
    to: '    if (!last || number === undefined) return true\n',
    breaks: 'An old copy of the store would remove hosts without a limit.',
    test: CONVERGE_TEST,
  },
  {
    name: 'fences of another store prove no removal',
    file: COMPARE,
    from: 'fences.filter((fence) => fence.epoch === epoch)',
    to: 'fences',
    breaks: 'The numbers of a former store would be taken for removals of this one.',
    test: CONVERGE_TEST,
  },
  {
    name: 'an entry that somebody edited is not written again',
    file: COMPARE,
    from: '    if (!isAsApplied && !(await isNew())) return false\n',
    to: '',
    breaks: 'The edit of an administrator on the Primary would be overwritten by a new version.',
    test: CONVERGE_TEST,
  },
  {
    name: 'an entry of others on the Secondary is not behind',
    file: COMPARE,
    from: '    entry.planId !== undefined &&\n    (entry.planId',
    to: '    (entry.planId',
    breaks: 'An entry that somebody wrote on the Secondary would be overwritten.',
    test: CONVERGE_TEST,
  },
  {
    name: 'a host that a run changes is left to the run',
    file: COMPARE,
    from: "state === 'applied' && runId === undefined",
    to: "state === 'applied'",
    breaks: 'A converge would write over what a run is about to decide.',
    test: CONVERGE_TEST,
  },
  {
    name: 'a Secondary that is away is waited for',
    file: CONVERGE,
    from: "throw new EdgeFault('unavailable', `nginx of edge",
    to: "return void new EdgeFault('unavailable', `nginx of edge",
    breaks: 'An edge that does not run would be changed, and what it cannot serve would count as in step.',
    test: CONVERGE_TEST,
  },
  {
    name: 'another program at the address of an edge is not taken for nginx',
    file: CONVERGE,
    from: "  throw new EdgeFault('unavailable', `The default server",
    to: "  if (false) throw new EdgeFault('unavailable', `The default server",
    breaks: 'An edge whose port another program has would count as in step.',
    test: CONVERGE_TEST,
  },
  {
    name: 'unused pairs stay while a run may need them again',
    file: CONVERGE,
    from: '    if ((await store.unsettledRunIds()).length > 0) return undefined\n',
    to: '',
    breaks: 'An undo would not find the certificate that it has to put back.',
    test: CONVERGE_TEST,
  },
  {
    name: 'a converge removes only what it was told to',
    file: 'src/runs/steps/converge.ts',
    from: '!exposed.has(host) && (removes?.includes(host) ?? true)',
    to: '!exposed.has(host)',
    breaks: 'A host whose exposure ended in the meantime would be taken off by the wrong run.',
    test: CONVERGE_TEST,
  },
  {
    name: 'an exposure is due only after its end',
    file: EXPOSURES,
    from: "'applied')\n      .where('expires_at', '<=', n",
    to: "'applied')\n      .where('expires_at', '!=', n",
    breaks: 'A host would be taken off before its time.',
    test: STORE_TEST,
    filter: 'are due from their expiry',
  },
  {
    name: 'only an applied exposure is due',
    file: EXPOSURES,
    from: "      .selectAll()\n      .where('state', '=', 'applied')\n",
    to: '      .selectAll()\n',
    breaks: 'The expiry would meddle with a host that a run changes.',
    test: STORE_TEST,
    filter: 'are due from their expiry',
  },
  {
    name: 'an end is never set earlier',
    file: EXPOSURES,
    from: "      .where('expires_at', '<=', expiresAt)\n",
    to: '',
    breaks: 'An extend that comes late would shorten what another one has promised.',
    test: STORE_TEST,
    filter: 'are extended only while',
  },
  {
    name: 'an extend wins against the expiry',
    file: 'src/usecases/exposer.ts',
    from: 'throw new Prolonged()',
    to: 'return begun',
    breaks: 'A host would be taken off after its owner was told that it stays.',
    test: EXPOSER_TEST,
  },
  {
    name: 'a removal that is under way is not begun again',
    file: 'src/runs/expiry.ts',
    from: '!this.#underWay.has(planId) && this.#isReady(planId)',
    to: 'this.#isReady(planId)',
    breaks: 'One stuck removal would take all places of the expiry.',
    test: EXPIRY_TEST,
  },
  {
    name: 'a removal that failed is tried again',
    file: 'src/runs/expiry.ts',
    from: "(await started.result).outcome.kind === 'succeeded' ? 'removed' : 'failed'",
    to: "(await started.result) ? 'removed' : 'failed'",
    breaks: 'A removal that fails every time would take the places of those that never failed.',
    test: EXPIRY_TEST,
  },
]
