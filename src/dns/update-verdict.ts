import { DnsWriteFault } from './contract.ts'
import type { TcpOutcome } from './transport.ts'
import { authenticate, type TsigKey } from './tsig.ts'
import { decodeMessageOrUndefined, type Message } from './wire/message.ts'
import { OPCODE_UPDATE } from './wire/update.ts'

/** The parts of a sent UPDATE that are needed to check its answer. */
export interface SentUpdate {
  readonly id: number
  readonly mac: Buffer
  readonly key: TsigKey
  readonly zone: string
  /** The server's address and port, for messages. */
  readonly server: string
  /** For how many seconds it was signed. */
  readonly fudge: number
}

/** An authentic answer. `serverSeconds`: the server's clock, since 1970. */
export interface UpdateAnswer {
  readonly rcode: string
  readonly serverSeconds: number
}

/**
 * The authentic answer, or the fault to reject with. Only an answer to this request that is signed with our key proves that
 * a change was made or that a prerequisite failed. `seconds`: since 1970.
 */
export function judgeUpdate(sent: SentUpdate, outcome: TcpOutcome, seconds: number): UpdateAnswer | DnsWriteFault {
  if (outcome.kind === 'no_message') return withoutMessage(sent, outcome)
  const message = decodeMessageOrUndefined(outcome.bytes)
  if (!message || !answers(message, sent)) return unknown(sent, 'sent a message that is not an answer to the update')
  const authenticity = authenticate(outcome.bytes, sent.mac, sent.key, seconds)
  if (authenticity.kind === 'unproven') {
    // Anyone may have sent this answer, and the server may have acted differently. That also holds for the unsigned REFUSED
    // with which PowerDNS rejects a key: reading the zone costs little.
    return unknown(sent, `answered ${message.rcode}, but the answer ${authenticity.reason}`)
  }
  if (authenticity.kind === 'complaint' || authenticity.error) {
    // A server that does not accept our signature must not act (RFC 8945 section 5.2), so nothing changed. BADTIME is signed.
    // BADKEY and BADSIG cannot be signed, but an attacker who forges them could forge the answers of a read, too.
    const { error = '' } = authenticity
    if (message.rcode !== 'NOTAUTH') return unknown(sent, `answered ${message.rcode} and ${error}`)
    return refusal(sent, error, authenticity.kind === 'genuine' ? seconds - authenticity.serverSeconds : undefined)
  }
  const { rcode } = message
  return PREREQUISITES_JUDGED.has(rcode) ? { rcode, serverSeconds: authenticity.serverSeconds } : refusal(sent, rcode)
}

/** The rcodes of a prerequisite that is false (RFC 2136 section 3.2). */
export const UNMET = ['NXDOMAIN', 'YXDOMAIN', 'NXRRSET', 'YXRRSET']

/**
 * The rcodes that report on the prerequisites. Every other authentic rcode is a refusal, and the zone has not changed:
 * FORMERR, NOTIMP, NOTAUTH, NOTZONE and REFUSED come before any change, and a server must undo everything before it answers
 * SERVFAIL (RFC 2136 section 3.4.2.1).
 */
const PREREQUISITES_JUDGED = new Set(['NOERROR', ...UNMET])

function withoutMessage(sent: SentUpdate, { reason, sent: wasSent }: Extract<TcpOutcome, { kind: 'no_message' }>) {
  if (!wasSent) {
    const sentence = `The update of ${sent.zone} was not sent: the DNS server ${sent.server} could not be reached. Check that it runs and accepts TCP.`
    return new DnsWriteFault('refused', sentence)
  }
  // A timeout or a closed connection may happen before, during or after the change.
  return unknown(sent, reason === 'timeout' ? 'did not answer in time' : 'closed the connection without an answer')
}

const answers = ({ id, response, opcode }: Message, sent: SentUpdate): boolean =>
  id === sent.id && response && opcode === OPCODE_UPDATE

const unknown = ({ server, zone }: SentUpdate, did: string): DnsWriteFault =>
  new DnsWriteFault('unknown', `The DNS server ${server} ${did}. Whether it made the update of ${zone} is unknown.`)

/** `apart`: how many seconds our clock is ahead of the server's clock, if the server said so. */
function refusal({ server, zone, key, fudge }: SentUpdate, code: string, apart?: number): DnsWriteFault {
  const isLate = apart !== undefined && Math.abs(apart) <= fudge
  const told = code === 'BADTIME' ? (isLate ? TOO_LATE : clocksDiffer(apart)) : ADVICE[code]
  const advice = (told ?? "See the DNS server's log.").replace('KEY', key.name).replace('FUDGE', String(fudge))
  return new DnsWriteFault(
    'refused',
    `The DNS server ${server} refused an update of ${zone} (${code}). Nothing changed. ${advice}`,
  )
}

/** The sentence for clocks that differ too much for signed updates. `apart`: by how many seconds ours is ahead, where it is known. */
export function clocksDiffer(apart: number | undefined): string {
  const how =
    apart === undefined
      ? 'The clocks of this machine and of the DNS server differ too much.'
      : `The clock of this machine is ${Math.abs(apart)} s ${apart > 0 ? 'ahead of' : 'behind'} that of the DNS server.`
  return `${how} Correct the clock on both sides.`
}

const TOO_LATE = 'It came to the server after the FUDGE s for which it was signed: the server was stalled. Try again.'

const ADVICE: Readonly<Record<string, string>> = {
  BADKEY:
    'It does not accept the key KEY. Compare the name and the algorithm of the key on both sides, and its permissions on the server.',
  BADSIG: 'It has another secret for the key KEY. Compare the key on both sides.',
  REFUSED: 'Give the key KEY permission to update the zone.',
  NOTAUTH: 'It is not the primary of this zone, or the key KEY has no permission to update the zone.',
  NOTZONE: 'A name is not in the zone.',
}
