import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import type { DnsOutcome, DnsProvider, DnsReader } from '../../dns/contract.ts'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'

/** The parts of a zone that doctor checks. */
export interface ExaminedZone {
  readonly name: string
  /** The primary first. */
  readonly servers: readonly DnsReader[]
  /** Undefined: the zone has no key, so it accepts plans, but no apply. */
  readonly provider: DnsProvider | undefined
  /** The greatest difference of the clocks with which an apply works: a DNS update is signed for a few seconds. */
  readonly clockLimitSeconds: number
}

export async function examineZone(zone: ExaminedZone): Promise<Finding[]> {
  const { name, servers } = zone
  const subject = `zone ${name}`
  const serials = await Promise.all(servers.map((server) => readSerial(name, server)))
  const found = serials.map(({ server, serial, reason }, index) => {
    if (serial !== undefined) return ok(subject, `${server} answers for the zone (serial ${serial}).`)
    const fix = `Check that the DNS server at ${server} runs and is authoritative for ${name}.`
    const sentence = `${server} gives no reliable answer: ${reason}.`
    return index === 0 ? fault(subject, sentence, fix) : warning(subject, sentence, fix)
  })
  return [...found, ...outdated(subject, serials), ...(await examineKey(subject, zone))]
}

interface ZoneSerial {
  readonly server: string
  readonly serial: number | undefined
  readonly reason: string
}

async function readSerial(zone: string, reader: DnsReader): Promise<ZoneSerial> {
  const [outcome] = await reader.ask([{ name: zone, type: 'SOA' }])
  const serial = outcome && serialIn(zone, outcome)
  return { server: reader.server, serial, reason: outcome ? reasonIn(outcome) : 'no answer' }
}

/** The serial is the number before the last four numbers of a SOA record. */
function serialIn(zone: string, outcome: DnsOutcome): number | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  const soa = outcome.answers.find(({ owner, type }) => owner === zone && type === 'SOA')
  return soa && soa.rdata.length >= 22 ? soa.rdata.readUInt32BE(soa.rdata.length - 20) : undefined
}

function reasonIn(outcome: DnsOutcome): string {
  if (outcome.kind === 'no_answer') return outcome.reason
  return outcome.authoritative ? `${outcome.rcode} and no SOA record` : `${outcome.rcode}, not authoritative`
}

function outdated(subject: string, [primary, ...others]: readonly ZoneSerial[]): Finding[] {
  return others.flatMap(({ server, serial }) =>
    primary?.serial === undefined || serial === undefined || serial === primary.serial
      ? []
      : [
          warning(
            subject,
            `${server} has another version of the zone than ${primary.server} (${serial}, not ${primary.serial}).`,
            `If this does not change, check that ${server} receives NOTIFY and may transfer the zone (AXFR).`,
          ),
        ],
  )
}

async function examineKey(
  subject: string,
  { name: zone, provider, clockLimitSeconds }: ExaminedZone,
): Promise<Finding[]> {
  if (!provider) {
    return [
      warning(subject, 'The zone has no key. Its names can be planned, but not applied.', `Set zones.${zone}.tsig.`),
    ]
  }
  try {
    const { aheadSeconds } = await provider.checkAccess()
    const apart = Math.abs(aheadSeconds)
    return [
      ok(
        subject,
        'The DNS server accepted a signed update that changes nothing. The key and its permissions are right.',
      ),
      clockFinding(subject, apart, clockLimitSeconds),
    ]
  } catch (error) {
    return [
      fault(
        subject,
        `${reasonOf(error)}.`,
        'Compare the key, its permissions and the clocks here and on the DNS server.',
      ),
    ]
  }
}

/** Clocks that are kept by NTP differ by less. */
const WARNS_FROM_SECONDS = 2

function clockFinding(subject: string, apart: number, limit: number): Finding {
  const sentence = `The clocks of this machine and of the DNS server differ by ${apart} s. At most ${limit} s are allowed.`
  const fix = 'Synchronize both clocks with NTP.'
  if (apart > limit) return fault(subject, sentence, fix)
  return apart >= WARNS_FROM_SECONDS ? warning(subject, sentence, fix) : ok(subject, sentence)
}

export async function examineAuthority(directory: AcmeDirectory): Promise<Finding> {
  const subject = 'authority'
  const state = await directory.read()
  if (state.kind === 'available') return ok(subject, `${directory.url} answers.`)
  const fix = 'Check acme.directory and acme.caFile, and that this machine can connect to the authority.'
  return fault(subject, `${directory.url} cannot be used: ${state.reason}.`, fix)
}

/** Checks for files in the certificate folders that cannot be used, or that expire soon. */
export async function examineInventory(inventory: CertificateInventory, now: number): Promise<Finding[]> {
  const subject = 'certificates'
  const found = await inventory.findings(now)
  if (found.length === 0) return [ok(subject, 'Every file in the certificate folders can be used.')]
  return found.map(({ path, sentence }) => warning(subject, `${path}: ${sentence}`, 'Replace or remove the file.'))
}
