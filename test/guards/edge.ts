import type { Guard } from './guard.ts'

const ENGINE = 'src/edge/generations/engine.ts'
const RELOAD = 'src/edge/process/reload.ts'
const PROXY = 'src/runs/steps/proxy.ts'
const GENERATION_TEST = 'test/integration/edge/edge-generation.test.ts'
const PROXY_TEST = 'test/unit/runs/proxy-step.test.ts'
const LOCK_TEST = 'test/unit/edge/folder-lock.test.ts'
/** Whether a reload is proven can only be seen with a real nginx, which replaces its workers. */
const RELOAD_TEST = 'test/real/edge/edge-reload.test.ts'

/** Nothing unproven stands, and nothing of others is overwritten. */
export const EDGE_GUARDS: readonly Guard[] = [
  {
    name: 'nginx tests a generation before it stands',
    file: 'src/edge/generations/trials.ts',
    from: '    if (!refusal) return { staged }\n',
    to: '    if (!refusal || refusal) return { staged }\n',
    breaks: 'A configuration that nginx refuses would stand, and the next start of nginx would fail.',
    test: GENERATION_TEST,
  },
  {
    name: 'a generation whose reload is not proven is left',
    file: ENGINE,
    from: '      if (former !== undefined) await enter(folder, generationAt(folder, former))\n',
    to: '',
    breaks: 'Files that nginx does not run would stand as if they were served.',
    test: GENERATION_TEST,
  },
  {
    name: 'a change whose reload is not proven fails',
    file: ENGINE,
    from: '      throw faultOf(folder, error)\n    }\n    released.keep()',
    to: '    }\n    released.keep()',
    breaks: 'A host would be told to be on the air that nginx does not serve.',
    test: GENERATION_TEST,
  },
  {
    name: 'a change does not overwrite what somebody else wrote',
    file: ENGINE,
    from: '      assertExpected(change, (path) => hashOfFound(path, present.look(path)))\n',
    to: '',
    breaks: 'An edit of an administrator would be lost without a word.',
    test: GENERATION_TEST,
  },
  {
    name: 'only the contents that were expected are replaced',
    file: 'src/edge/files/replace.ts',
    from: '    if (!acceptable.get(path)?.some((before) => before.hash === hash)) throw changedMeanwhile(path)\n',
    to: '',
    breaks: 'An edit of an administrator would be lost without a word.',
    test: GENERATION_TEST,
  },
  {
    name: 'a link or a folder in the place of a file is not written through',
    file: 'src/edge/files/replace.ts',
    from: '    if (hash === NO_FILE || (linkIn(hash) !== undefined && !replacesLinks)) throw notRegularFile(path)\n',
    to: '',
    breaks: 'A planted link would lead our text into a file of somebody else.',
    test: GENERATION_TEST,
  },
  {
    name: 'an edit in the middle of a change begins it again',
    file: ENGINE,
    from: ' || !isUpToDate(staged)) {',
    to: ') {',
    breaks: 'An edit that is made while nginx tests would be lost.',
    test: 'test/integration/edge/edge-replace.test.ts',
  },
  {
    name: 'private keys are not given to an nginx that logs them',
    file: ENGINE,
    from: '          await this.#parts.assertNoDebugLog()\n',
    to: '          await undefined\n',
    breaks: 'A private key would be written into a log.',
    test: GENERATION_TEST,
  },
  {
    name: 'drafts are not written through a link',
    file: 'src/edge/files/files.ts',
    from: '  if (!found.isDirectory()) throw',
    to: '  if (false) throw',
    breaks: 'Private keys would be written where a planted link leads.',
    test: GENERATION_TEST,
  },
  {
    name: 'an edge that is not prepared is not changed',
    file: ENGINE,
    from: 'if (this.#parts.present.number === undefined) throw notPrepared(this.#parts.server, this.whyUnprepared)',
    to: '',
    breaks: 'A change would stand in a folder that nginx does not include.',
    test: GENERATION_TEST,
  },
  {
    name: 'new workers have to answer after a reload',
    file: RELOAD,
    from: "  if (!(await edgeAnswers(settings, signal))) throw notReloaded('The new workers do not answer.')\n",
    to: '',
    breaks: 'A reload would count although nobody can be served.',
    test: RELOAD_TEST,
  },
  {
    name: 'a reload that nginx refuses is not taken for one',
    file: RELOAD,
    from: '    if (refusal) throw notReloaded(',
    to: '    if (refusal && isOver && !haveGone) throw notReloaded(',
    breaks: 'A change that nginx does not run would be told as made.',
    test: RELOAD_TEST,
  },
  {
    name: 'the folder of an edge has one agent',
    file: 'src/edge/files/folder-lock.ts',
    from: "database.exec('BEGIN EXCLUSIVE')",
    to: "database.exec('BEGIN')",
    breaks: 'Two agents would write generations of one nginx over each other.',
    test: LOCK_TEST,
  },
  {
    name: 'a service does not change the folder of an agent',
    file: 'src/edge/files/folder-lock.ts',
    from: "    database.prepare('SELECT count(*) FROM sqlite_master').get()\n",
    to: '',
    breaks: 'A service without an agent would write beside the agent of the same nginx.',
    test: LOCK_TEST,
  },
  {
    name: 'a step does not place its files over those of others',
    file: PROXY,
    from: '        if (ours)\n',
    to: '        if (ours && false)\n',
    breaks: 'An entry that somebody edited would be overwritten by an update.',
    test: PROXY_TEST,
  },
  {
    name: 'an undo does not put files back over those of others',
    file: PROXY,
    from: '      refuseForeign(now, before, after)\n',
    to: '',
    breaks: 'An edit after a change would be lost when the run goes back.',
    test: PROXY_TEST,
  },
  {
    name: 'only what stood before is put back',
    file: PROXY,
    from: 'candidate.path === path && hashOf(candidate).hash === hash',
    to: 'candidate.path === path',
    breaks: 'An undo would leave something that never stood there, and be told as done.',
    test: PROXY_TEST,
  },
  {
    name: 'after a crash the first image counts',
    file: PROXY,
    from: '        known = known ? { ...seen, before: firstSeen(known.before, seen.before) } : seen\n',
    to: '        known = seen\n',
    breaks: 'A run that was interrupted after its change would take that for what stood before.',
    test: PROXY_TEST,
  },
]
