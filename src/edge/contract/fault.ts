import { Fault } from '../../model/errors.ts'

/**
 * `config_broken`: the configuration was invalid before the change. `change_invalid`: nginx rejects the change; no live file
 * was changed. `changed_meanwhile`: a host is not what was expected; nothing was written. `changed_elsewhere`: somebody else has edited
 * what stands for the host; it was not overwritten. `write_failed`: a disk or
 * permission error. `not_reloaded`: nothing proves that nginx runs the new configuration; the former one is on disk again. `unavailable`:
 * nginx cannot be used. `logs_keys`: nginx logs at debug level, which writes private keys into a log; nothing was written.
 * `fenced`: a newer run or another store has changed a host of this change; see `isFenced`. `away`: the agent of the edge does not answer, and nothing
 * was sent to it. The sentence never contains configuration text or a raw log line.
 */
export class EdgeFault extends Fault {
  override readonly code: Fault['code']
  readonly kind:
    | 'config_broken'
    | 'change_invalid'
    | 'changed_meanwhile'
    | 'changed_elsewhere'
    | 'write_failed'
    | 'not_reloaded'
    | 'unavailable'
    | 'logs_keys'
    | 'fenced'
    | 'away'

  override readonly said: string | undefined

  /** `said`: the quoted words of an agent, see `Fault`. */
  constructor(kind: EdgeFault['kind'], sentence: string, said?: string) {
    super(sentence)
    this.kind = kind
    this.said = said
    this.code = kind === 'config_broken' || kind === 'logs_keys' ? 'proxy_config_broken' : undefined
  }
}

/** Another process owns the edge's folder. It may be ending: then this one can be the next owner within moments. */
export class OwnedElsewhere extends EdgeFault {
  constructor(sentence: string) {
    super('unavailable', sentence)
  }
}

/**
 * Whether a newer run has taken over the host, according to the edge. The caller must stop at once and undo nothing, as after a
 * lost lease: the present state belongs to the newer run.
 */
export const isFenced = (fault: unknown): boolean =>
  fault instanceof Error && ((fault instanceof EdgeFault && fault.kind === 'fenced') || isFenced(fault.cause))
