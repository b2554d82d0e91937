import { DnsWriteFault } from './contract.ts'
import type { TcpOutcome } from './transport.ts'
import { authenticate, type TsigKey } from './tsig.ts'
import { decodeMessageOrUndefined, type Message } from './wire/message.ts'
import { OPCODE_UPDATE } from './wire/update.ts'

/** An UPDATE that went out, as far as its answer is judged by it. */
export interface SentUpdate {
  readonly id: number
  readonly mac: Buffer
  readonly key: TsigKey
  readonly zone: string
  /** The server's address and port, for sentences. */
  readonly server: string
}

/** A genuine answer. `serverSeconds`: the server's clock, since 1970. */
export interface UpdateAnswer {
  readonly rcode: string
  readonly serverSeconds: number
}

/**
 * A genuine answer, or the fault that stands in its place. Nothing but an answer signed with our key, to this
 * very request, says that a change was made or that a prerequisite failed. `seconds`: the time since 1970.
 */
export function judgeUpdate(sent: SentUpdate, outcome: TcpOutcome, seconds: number): UpdateAnswer | DnsWriteFault {
  if (outcome.kind === 'no_message') return withoutMessage(sent, outcome)
  const message = decodeMessageOrUndefined(outcome.bytes)
  if (!message || !answers(message, sent)) return unknown(sent, 'sent something that is no answer to it')
  const authenticity = authenticate(outcome.bytes, sent.mac, sent.key, seconds)
  if (authenticity.kind === 'unproven') {
    // Whatever it says, anyone may have said it, and the server may have done otherwise. That holds for an unsigned
    // REFUSED too, by which PowerDNS turns away a key that it does not accept: a look at the zone costs little.
    return unknown(sent, `answered ${message.rcode}, which ${authenticity.reason}`)
  }
  if (authenticity.kind === 'complaint' || authenticity.error) {
    // The server did not accept our signature, and then must not act (RFC 8945 section 5.2): nothing changed. BADTIME is
    // signed; BADKEY and BADSIG cannot be, but whoever forges them on our connection could as well forge what a look shows.
    const { error = '' } = authenticity
    if (message.rcode !== 'NOTAUTH') return unknown(sent, `answered ${message.rcode} and ${error}`)
    return refusal(sent, error, authenticity.kind === 'genuine' ? seconds - authenticity.serverSeconds : undefined)
  }
  const { rcode } = message
  return PREREQUISITES_JUDGED.has(rcode) ? { rcode, serverSeconds: authenticity.serverSeconds } : refusal(sent, rcode)
}

/**
 * Genuine answers that say what became of the prerequisites. Every other one is a refusal, and the zone is as before: so
 * for FORMERR, NOTIMP, NOTAUTH, NOTZONE and REFUSED, which come before any change, and for SERVFAIL, before which a server
 * must have put everything back (RFC 2136 section 3.4.2.1).
 */
const PREREQUISITES_JUDGED = new Set(['NOERROR', 'NXDOMAIN', 'YXDOMAIN', 'NXRRSET', 'YXRRSET'])

function withoutMessage(sent: SentUpdate, { reason, sent: wasSent }: Extract<TcpOutcome, { kind: 'no_message' }>) {
  if (!wasSent) {
    const sentence = `${sent.server} could not be reached, so no update of ${sent.zone} was sent: check that the DNS server runs there and takes TCP`
    return new DnsWriteFault('refused', sentence)
  }
  // Silence, and a connection that ends, come before the change, in its midst or after it.
  return unknown(sent, reason === 'timeout' ? 'gave no answer in time' : 'closed the connection without an answer')
}

const answers = ({ id, response, opcode }: Message, sent: SentUpdate): boolean =>
  id === sent.id && response && opcode === OPCODE_UPDATE

const unknown = ({ server, zone }: SentUpdate, did: string): DnsWriteFault =>
  new DnsWriteFault('unknown', `${server} ${did}: only a look at ${zone} tells whether the update was made`)

/** `apart`: by how many seconds our clock is ahead of the server's, where it said so. */
function refusal({ server, zone, key }: SentUpdate, code: string, apart?: number): DnsWriteFault {
  const by = apart === undefined || apart === 0 ? 'more than five minutes' : `${Math.abs(apart)} seconds`
  const advice = (ADVICE[code] ?? "see the DNS server's log").replace('KEY', key.name).replace('APART', by)
  return new DnsWriteFault(
    'refused',
    `${server} refused an update of ${zone} (${code}), and nothing changed: ${advice}`,
  )
}

const ADVICE: Readonly<Record<string, string>> = {
  BADKEY: 'it does not accept the key KEY; compare its name and algorithm on both sides, and its rights there',
  BADSIG: 'its secret of the key KEY is another one; compare the key on both sides',
  BADTIME: 'the clocks differ by APART; set them right on both sides',
  REFUSED: 'give the key KEY the right to update the zone',
  NOTAUTH: 'it is not the primary of this zone, or the key KEY may not update it',
  NOTZONE: 'a name lies outside the zone',
}
