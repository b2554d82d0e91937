import type { Command, History } from './command.ts'

/** A fault of the engine that the model has found, with the shortest history that showed it. It must stay repaired. */
interface RepairedFault {
  readonly name: string
  readonly history: History
}

const breaks = (step: 'verify' | 'proxy' | 'dns', how: 'half' | 'undo'): Command => ({ do: 'break', step, how })
const applied: Command = { do: 'apply', by: 'a', plan: 'one' }
const cannotBeUndone: History = [breaks('verify', 'half'), breaks('proxy', 'undo')]

export const REPAIRED_FAULTS: readonly RepairedFault[] = [
  {
    name: 'after the resolve of a blocked repair, accept or renewal the plan stays blocked',
    history: [applied, { do: 'take', part: 'entry' }, ...cannotBeUndone, { do: 'repair', by: 'a', plan: 'one' }],
  },
  {
    name: 'a store that is silent after the verdict turns the run back',
    history: [
      applied,
      { do: 'take', part: 'entry' },
      { do: 'repair', by: 'a', plan: 'one', stop: { at: 'committed: write verify verdict', how: 'lost' } },
    ],
  },
  {
    name: 'a caller whose run an edge refuses as too old is told no code',
    history: [
      { ...applied, stop: { at: 'about to change entry', how: 'pause' } },
      { do: 'wait', how: 'lease' },
      { do: 'recover', by: 'b' },
    ],
  },
  {
    name: 'a step that hangs past its limit still holds its lease when the same instance recovers its run',
    history: [
      { ...applied, stop: { at: 'apply dns after-intent', how: 'slow' } },
      { do: 'wait', how: 'dnsStep' },
      { do: 'recover', by: 'a' },
      { do: 'wake', by: 'a' },
    ],
  },
  {
    name: 'a blocked run whose accept ended blocked as well cannot be resolved',
    history: [
      ...cannotBeUndone,
      applied,
      breaks('dns', 'half'),
      { do: 'resolve', by: 'a', plan: 'one', accepts: true },
    ],
  },
  {
    name: 'the accept of a blocked renewal leaves other hosts with a certificate that their receipts do not say',
    history: [
      applied,
      { do: 'apply', by: 'a', plan: 'side' },
      ...cannotBeUndone,
      { do: 'renew', by: 'a', plan: 'one' },
      { do: 'mend' },
      { do: 'resolve', by: 'a', plan: 'one', accepts: true },
    ],
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
  },
]
