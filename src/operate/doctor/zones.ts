import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import type { DnsOutcome, DnsProvider, DnsReader } from '../../dns/contract.ts'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'

/** One zone, as far as doctor looks at it. */
export interface ExaminedZone {
  readonly name: string
  /** The primary first. */
  readonly servers: readonly DnsReader[]
  /** Undefined: the zone has no key and can only be planned in. */
  readonly provider: DnsProvider | undefined
}

/** A clock that is this far off will soon be too far: five minutes are the end. */
const CLOCK_WARNING_SECONDS = 60

export async function examineZone({ name, servers, provider }: ExaminedZone): Promise<Finding[]> {
  const subject = `zone ${name}`
  const looks = await Promise.all(servers.map((server) => look(name, server)))
  const found = looks.map(({ server, serial, reason }, index) => {
    if (serial !== undefined) return ok(subject, `${server} answers for it (serial ${serial}).`)
    const fix = `See that the DNS server runs at ${server} and is authoritative for ${name}.`
    const sentence = `${server} gives no answer to rely on: ${reason}.`
    return index === 0 ? fault(subject, sentence, fix) : warning(subject, sentence, fix)
  })
  return [...found, ...behind(subject, looks), ...(await examineKey(subject, name, provider))]
}

interface Look {
  readonly server: string
  readonly serial: number | undefined
  readonly reason: string
}

async function look(zone: string, reader: DnsReader): Promise<Look> {
  const [outcome] = await reader.ask([{ name: zone, type: 'SOA' }])
  const serial = outcome && serialIn(zone, outcome)
  return { server: reader.server, serial, reason: outcome ? reasonIn(outcome) : 'it was not asked' }
}

/** The serial stands in front of the four last numbers of a SOA record. */
function serialIn(zone: string, outcome: DnsOutcome): number | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  const soa = outcome.answers.find(({ owner, type }) => owner === zone && type === 'SOA')
  return soa && soa.rdata.length >= 22 ? soa.rdata.readUInt32BE(soa.rdata.length - 20) : undefined
}

function reasonIn(outcome: DnsOutcome): string {
  if (outcome.kind === 'no_answer') return outcome.reason
  return outcome.authoritative ? `${outcome.rcode} and no SOA record` : `${outcome.rcode}, not authoritative`
}

function behind(subject: string, [primary, ...others]: readonly Look[]): Finding[] {
  return others.flatMap(({ server, serial }) =>
    primary?.serial === undefined || serial === undefined || serial === primary.serial
      ? []
      : [
          warning(
            subject,
            `${server} has another version of it than ${primary.server} (${serial}, not ${primary.serial}).`,
            `If it stays so, see that ${server} is told of changes (NOTIFY) and may fetch them (AXFR).`,
          ),
        ],
  )
}

async function examineKey(subject: string, zone: string, provider: DnsProvider | undefined): Promise<Finding[]> {
  if (!provider) {
    return [warning(subject, 'It has no key: names in it can be planned, but not applied.', `Set zones.${zone}.tsig.`)]
  }
  try {
    const { aheadSeconds } = await provider.checkAccess()
    const apart = Math.abs(aheadSeconds)
    const clock = `Our clock and the DNS server's are ${apart} s apart; 300 s are allowed.`
    return [
      ok(subject, 'A signed update that can change nothing was understood: key and rights are right.'),
      apart > CLOCK_WARNING_SECONDS ? warning(subject, clock, 'Set both clocks by NTP.') : ok(subject, clock),
    ]
  } catch (error) {
    return [fault(subject, `${reasonOf(error)}.`, 'Compare key, rights and clocks here and on the DNS server.')]
  }
}

export async function examineAuthority(directory: AcmeDirectory): Promise<Finding> {
  const subject = 'authority'
  const state = await directory.read()
  if (state.kind === 'available') return ok(subject, `${directory.url} answers.`)
  const fix = 'See acme.directory and acme.caFile, and that this machine may reach it.'
  return fault(subject, `${directory.url} cannot be used: ${state.reason}.`, fix)
}

/** Files in the certificate folders that cannot be used, or soon cannot any more. */
export async function examineInventory(inventory: CertificateInventory, now: number): Promise<Finding[]> {
  const subject = 'certificates'
  const found = await inventory.findings(now)
  if (found.length === 0) return [ok(subject, 'Every file in the certificate folders can be used.')]
  return found.map(({ path, sentence }) =>
    warning(subject, `${path}: ${sentence}`, 'Replace the file, or take it away.'),
  )
}
