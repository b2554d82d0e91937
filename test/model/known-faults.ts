import type { Command, History } from './command.ts'
import type { Counterexample } from './history.ts'

/**
 * A fault of the engine that the model has found and that is not repaired yet, with the shortest history that shows it. The
 * search passes over it. When it is repaired its test fails, and the entry goes.
 */
interface KnownFault {
  readonly name: string
  readonly history: History
  readonly isShownBy: (found: Counterexample) => boolean
}

const breaks = (step: 'verify' | 'proxy' | 'dns', how: 'half' | 'undo'): Command => ({ do: 'break', step, how })
const applied: Command = { do: 'apply', by: 'a', plan: 'one' }
const cannotBeUndone: History = [breaks('verify', 'half'), breaks('proxy', 'undo')]

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    name: 'after the resolve of a blocked repair, accept or renewal the plan stays blocked',
    history: [applied, { do: 'take', part: 'entry' }, ...cannotBeUndone, { do: 'repair', by: 'a', plan: 'one' }],
    // A plan that stays blocked can be resolved a second time.
    isShownBy: ({ detail, lines }) =>
      detail === 'the plan is blocked, not applied' ||
      (/^(repair|accept|renew) began$/.test(detail) && lines.filter((line) => line.includes(' resolves ')).length > 1),
  },
  {
    name: 'a store that is silent in the step after the verdict turns the run back',
    history: [
      applied,
      { do: 'take', part: 'entry' },
      { do: 'repair', by: 'a', plan: 'one', stop: { at: 'committed: write tidy done', how: 'lost' } },
    ],
    isShownBy: ({ invariant, lines }) =>
      invariant === 'a run with a verdict never goes back' && lines.some((line) => line.includes('tidy')),
  },
  {
    name: 'a caller whose run an edge refuses as too old is told no code',
    history: [
      { ...applied, stop: { at: 'about to change entry', how: 'pause' } },
      { do: 'wait', how: 'lease' },
      { do: 'recover', by: 'b' },
    ],
    isShownBy: ({ invariant, detail }) =>
      invariant === 'a caller is told a problem with a code' && detail.includes('came too late'),
  },
  {
    name: 'a step that hangs past its limit still holds its lease when the same instance recovers its run',
    history: [
      { ...applied, stop: { at: 'apply dns after-intent', how: 'slow' } },
      { do: 'wait', how: 'dnsStep' },
      { do: 'recover', by: 'a' },
      { do: 'wake', by: 'a' },
    ],
    isShownBy: ({ invariant, lines }) =>
      invariant === 'a run acts only while it holds the host' && lines.some((line) => line.startsWith('105 s')),
  },
  {
    name: 'a blocked run whose accept ended blocked as well cannot be resolved',
    history: [
      ...cannotBeUndone,
      applied,
      breaks('dns', 'half'),
      { do: 'resolve', by: 'a', plan: 'one', accepts: true },
    ],
    isShownBy: ({ invariant }) => invariant === 'a blocked host can be resolved',
  },
  {
    name: 'the accept of a blocked renewal leaves other hosts with files that their receipts do not say',
    history: [
      applied,
      { do: 'apply', by: 'a', plan: 'side' },
      ...cannotBeUndone,
      { do: 'renew', by: 'a', plan: 'one' },
      { do: 'mend' },
      { do: 'resolve', by: 'a', plan: 'one', accepts: true },
    ],
    isShownBy: ({ invariant, lines }) =>
      invariant === 'world and store agree' && lines.some((line) => /resolves .* with accept: succeeded/.test(line)),
  },
  {
    name: 'a resolve by an instance with a late clock leaves the exposure claimed by a run that has ended',
    history: [
      { do: 'shift', by: 'b', ms: -5_000 },
      applied,
      breaks('proxy', 'half'),
      breaks('dns', 'undo'),
      { do: 'remove', by: 'a', plan: 'one' },
      { do: 'resolve', by: 'b', plan: 'one' },
    ],
    isShownBy: ({ invariant, lines }) =>
      invariant === 'exposure and runs agree' && lines.some((line) => line.startsWith('the clock of')),
  },
]
