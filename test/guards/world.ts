import type { Cuts } from './cuts.ts'

/** Repairs without which a history of the simulated world breaks a promise. */
export const WORLD_GUARDS: Cuts = {
  'an apply whose update is lost waits for it before it is undone':
    '      await this.#settle(validUntil, error.message)\n',
  'a run that is taken up waits for the update of the process before': [
    'if (open.length > 0) await this.#settle(',
    'if (open.length > 1000) await this.#settle(',
  ],
  'a host is not given back while the name server is silent': [
    "if (held !== 'unknown') return { records: held",
    'if (held) return { records: held',
  ],
  'a run that a restore has blocked is not undone by its old journal':
    '    if (isLeftOpen(old)) return takeOver(await renewAgain(blocked, task, session))\n',
  'an undone accept takes its released file off the Secondary': ['(run ? released.undo(run, host) : [])', '[]'],
  'a run leaves an edit on the Secondary': [
    '    if (!recertified) throw edited(host, known)\n    return',
    '    if (recertified) return',
  ],
  'a restored store leaves runs of the time of the backup to a person': '  await blockUnfinished(writing, now)\n',
}
