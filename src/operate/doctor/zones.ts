import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import { type DnsOutcome, type DnsProvider, type DnsReader, isRefused, type ZoneRecord } from '../../dns/contract.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
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
  readonly clock: Clock
}

/** BIND tells other servers of a change after 5 s: the record of a doctor that ran just before is one. */
const TRANSFER_PATIENCE = { firstMs: 100, factor: 2, longestMs: 1_000, withinMs: 7_000 }

export async function examineZone(zone: ExaminedZone): Promise<Finding[]> {
  const { name, servers, clock } = zone
  const subject = `zone ${name}`
  const serials = await poll(
    () => Promise.all(servers.map((server) => readSerial(name, server))),
    (read) => outdated(subject, read).length === 0,
    { ...TRANSFER_PATIENCE, clock },
  )
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
      fault(subject, 'The zone has no key. Its names can be planned, but not applied.', `Set zones.${zone}.tsig.`),
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
      // With such clocks every real update is refused.
      ...(apart > clockLimitSeconds ? [] : [await examineUpdate(subject, zone, provider)]),
    ]
  } catch (error) {
    return [
      fault(subject, sentenceIn(error), 'Compare the key, its permissions and the clocks here and on the DNS server.'),
    ]
  }
}

/** Always the same record, so that the next check removes it after a crash. */
const testRecord = (zone: string): ZoneRecord => ({
  name: `_drawbridge-doctor.${zone}`,
  type: 'TXT',
  ttl: 1,
  value: 'test of drawbridge doctor',
})

/** Only a change shows whether the server can write the zone: BIND makes the journal of a zone at its first update. */
async function examineUpdate(subject: string, zone: string, provider: DnsProvider): Promise<Finding> {
  const record = testRecord(zone)
  let validUntil = 0
  const failure = await provider
    .addValue(record, undefined, async (until) => {
      validUntil = until
    })
    .catch((error: unknown) => error)
  const refusal =
    failure === undefined ? undefined : fault(subject, `A test record was not added. ${sentenceIn(failure)}`, WRITABLE)
  if (refusal && isRefused(failure)) return refusal
  // An update without an answer may be made later, after the removal.
  if (refusal) await provider.settle(validUntil).catch(() => undefined)
  const left = await takeBack(record, provider)
  if (left === undefined) return refusal ?? ok(subject, 'The DNS server added a test record and removed it again.')
  const fix = `Run doctor again, or remove the record by hand: update delete ${record.name} TXT`
  return fault(subject, `The test record ${record.name} TXT may be left in the zone. ${sentenceIn(left)}`, fix)
}

/** Why the record may be left. Tries twice: an answer may be lost. */
const takeBack = (record: ZoneRecord, provider: DnsProvider): Promise<unknown> =>
  provider.removeValue(record).catch(() => provider.removeValue(record).catch((error: unknown) => error))

const WRITABLE =
  'See the log of the DNS server. BIND writes a journal beside the zone file: keep the file in /var/lib/bind, not in /etc/bind.'

const sentenceIn = (error: unknown): string => reasonOf(error).replace(/\.?$/, '.')

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
  return found.map(({ kind, path, sentence }) => {
    const fix =
      kind === 'too_many_files' ? 'Move what is not a certificate out of the folder.' : 'Replace or remove the file.'
    return warning(subject, `${path}: ${sentence}`, fix)
  })
}
