import { type AuditLine, GENESIS, lineHash } from '../model/audit.ts'

/**
 * The first fault in the chain. `changed`: a line was changed. `missing`: a line is missing. `beginning`: lines before the
 * first one are missing, and no prune line explains it. `head`: the stored head does not match the last line, because
 * lines were removed or added at the end.
 */
export interface ChainFault {
  readonly seq: number
  readonly fault: 'changed' | 'missing' | 'beginning' | 'head'
  readonly sentence: string
}

interface ChainHead {
  readonly seq: number
  readonly hash: string
}

/** Verifies a chain line by line, from the first stored line to the head. Both methods return the first fault. */
export class ChainVerifier {
  #first: AuditLine | undefined
  #last: AuditLine | undefined
  #lines = 0
  #vouchedFor = false

  get extent(): { lines: number; first: number; last: number; headHash: string } {
    return {
      lines: this.#lines,
      first: this.#first?.seq ?? 0,
      last: this.#last?.seq ?? 0,
      headHash: this.#last?.hash ?? GENESIS,
    }
  }

  follow(line: AuditLine): ChainFault | undefined {
    const fault = ownFault(line) ?? (this.#last && linkFault(this.#last, line))
    if (fault) return fault
    this.#first ??= line
    this.#last = line
    this.#lines += 1
    this.#vouchedFor ||= vouchesFor(line, this.#first)
    return undefined
  }

  finish(head: ChainHead | undefined): ChainFault | undefined {
    return beginningFault(this.#first, this.#vouchedFor) ?? headFault(this.#last, head)
  }
}

function ownFault({ hash, seq, previous, ...entry }: AuditLine): ChainFault | undefined {
  if (lineHash(previous, seq, entry) === hash) return undefined
  return { seq, fault: 'changed', sentence: `Line ${seq} was changed: its hash does not match its content.` }
}

function linkFault(last: AuditLine, line: AuditLine): ChainFault | undefined {
  if (line.seq !== last.seq + 1) {
    const [from, to] = [last.seq + 1, line.seq - 1]
    return {
      seq: from,
      fault: 'missing',
      sentence: `${from === to ? `Line ${from} is` : `Lines ${from} to ${to} are`} missing.`,
    }
  }
  if (line.previous === last.hash) return undefined
  const sentence = `Line ${last.seq} was replaced: line ${line.seq} holds the hash of another line.`
  return { seq: last.seq, fault: 'changed', sentence }
}

const vouchesFor = (line: AuditLine, first: AuditLine): boolean =>
  line.action === 'prune' && line.facts?.throughSeq === first.seq - 1 && line.facts.throughHash === first.previous

function beginningFault(first: AuditLine | undefined, vouchedFor: boolean): ChainFault | undefined {
  if (!first || vouchedFor || (first.seq === 1 && first.previous === GENESIS)) return undefined
  const sentence =
    first.seq === 1
      ? 'Line 1 was replaced: it does not hold the hash of the empty chain.'
      : `The chain begins at line ${first.seq}, and no prune line records the removal of the lines before it.`
  return { seq: first.seq, fault: 'beginning', sentence }
}

function headFault(last: AuditLine | undefined, head: ChainHead | undefined): ChainFault | undefined {
  const [lastSeq, headSeq] = [last?.seq ?? 0, head?.seq ?? 0]
  if (headSeq > lastSeq) {
    return { seq: lastSeq + 1, fault: 'head', sentence: `Lines ${lastSeq + 1} to ${headSeq} are missing at the end.` }
  }
  if (headSeq < lastSeq) {
    return {
      seq: headSeq + 1,
      fault: 'head',
      sentence: `Lines ${headSeq + 1} to ${lastSeq} were added after the chain's head.`,
    }
  }
  if (!last || last.hash === head?.hash) return undefined
  return {
    seq: lastSeq,
    fault: 'head',
    sentence: `Line ${lastSeq} was replaced: the chain's head holds another hash.`,
  }
}
