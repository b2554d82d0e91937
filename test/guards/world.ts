import type { Guard } from './guard.ts'

const WORLD_TEST = 'test/world/world.test.ts'
const UPDATES = 'src/runs/steps/zone-updates.ts'

/** Repairs without which a history of the simulated world breaks a promise. */
export const WORLD_GUARDS: readonly Guard[] = [
  {
    name: 'an apply whose update is lost waits for it before it is undone',
    file: UPDATES,
    from: '      await this.#settle(validUntil, error.message)\n',
    to: '',
    breaks: 'A name server that stalls would make a name point at an edge that does not serve it.',
    test: WORLD_TEST,
    filter: 'an update that the name server makes after',
  },
  {
    name: 'a run that is taken up waits for the update of the process before',
    file: UPDATES,
    from: 'if (open.length > 0) await this.#settle(',
    to: 'if (open.length > 1000) await this.#settle(',
    breaks: 'A stalled name server would make the update of a process that died after the run was undone.',
    test: WORLD_TEST,
    filter: 'an update of a process that died',
  },
  {
    name: 'a host is not given back while the name server is silent',
    file: 'src/runs/steps/dns.ts',
    from: "if (held !== 'unknown') return { records: held",
    to: 'if (held) return { records: held',
    breaks: 'An owner mark would stay without an exposure.',
    test: WORLD_TEST,
    filter: 'an accept while the name server is silent',
  },
  {
    name: 'a run that a restore has blocked is not undone by its old journal',
    file: 'src/runs/engine/resolve.ts',
    from: '    if (isLeftOpen(old)) return runs.begin({ ...beginning, task: await renewAgain(blocked, task, session) }, session)\n',
    to: '',
    breaks: 'A resolve would undo the part of the run that the backup knows, and leave a name without its entry.',
    test: WORLD_TEST,
    filter: 'the resolve of an apply that was under way',
  },
  {
    name: 'an undone accept takes its released file off the Secondary',
    file: 'src/nginx/generations/nginx-server.ts',
    from: '(run ? released.undo(run, host) : [])',
    to: '[]',
    breaks: 'The Secondary would serve the host after its removal.',
    test: WORLD_TEST,
    filter: 'an accept that is undone leaves its released file',
  },
  {
    name: 'a restored store leaves what is newer',
    file: 'src/runs/compare-edge.ts',
    from: 'of > epoch || number > (own',
    to: 'of > epoch || 0 > (own',
    breaks: 'A host that was removed after the backup would come back on both edges.',
    test: WORLD_TEST,
    filter: 'a host that was removed after the backup',
  },
  {
    name: 'a restored store leaves runs of the time of the backup to a person',
    file: 'src/store/snapshot.ts',
    from: '    await blockUnfinished(writing, now)\n',
    to: '',
    breaks:
      'Recovery would undo or repeat a run that the former store has ended: hosts would go off the air or come back.',
    test: WORLD_TEST,
    filter: 'a store that is restored from a backup of the time of',
  },
]
