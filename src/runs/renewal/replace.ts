import type { InstalledCertificate } from '../../certificates/contract.ts'
import type { Edge, EdgeFile, Handshake, SiteCertificate } from '../../edge/contract.ts'
import { Fault } from '../../model/errors.ts'
import type { NewEvent } from '../../model/event.ts'
import type { Renewal } from '../../model/ledger.ts'
import type { Receipt } from '../../model/receipt.ts'
import { poll } from '../../primitives/retry.ts'
import type { Log } from '../../runtime/log.ts'
import type { Store } from '../../store/ports/store.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import { hashIn, hashOf } from '../file-hash.ts'
import { chosen } from '../steps/certificate.ts'
import type { StepParts } from '../steps/context.ts'
import { book, type HeldHost, holding } from './held-hosts.ts'
import { type Use, under, withIntent, withoutIntent, withReplaced, withSecondary } from './in-use.ts'

export interface ReplaceParts extends Pick<StepParts, 'secondary' | 'edgeLock' | 'loadPair'> {
  readonly primary: Edge
  readonly store: Store
  readonly instance: string
  readonly leaseMs: number
  readonly log: Log
  readonly crashPoint: CrashPoint
  readonly now: () => number
}

/** A certificate that is to be served from now on. */
interface Successor {
  readonly certificate: InstalledCertificate
  readonly pair: SiteCertificate
}

/**
 * Gives hosts another certificate on every edge: files beside the old ones, tested, swapped in, loaded once for all of them,
 * and proven by a handshake with each. Until then the old one can be put back; when anything fails on the Primary, it is.
 * Hosts that somebody else holds, or whose entry somebody edited, are left out; it gives how many were served.
 */
export async function replaceCertificate(
  parts: ReplaceParts,
  certificate: InstalledCertificate,
  hosts: readonly Use[],
): Promise<number> {
  const successor = { certificate, pair: await parts.loadPair(certificate) }
  return holding(parts, hosts, async (held) => {
    const served = await parts.edgeLock.hold(parts.primary, () => onPrimary(parts, successor, held))
    await onSecondary(parts, successor, served).catch((error: unknown) =>
      parts.log.warn(
        { event: 'secondary_certificate_not_replaced', err: error, names: certificate.names },
        'The Secondary still serves the old certificate.',
      ),
    )
    return served.length
  })
}

/** For hosts that the Primary serves well and the Secondary not yet. */
export async function bringSecondaryUp(
  parts: ReplaceParts,
  certificate: InstalledCertificate,
  hosts: readonly Use[],
): Promise<void> {
  const successor = { certificate, pair: await parts.loadPair(certificate) }
  await holding(parts, hosts, (held) => onSecondary(parts, successor, held))
}

/** A replacement that a crash left, whose certificate is gone: the hosts go on with what they had. */
export const takeBack = (parts: ReplaceParts, hosts: readonly Use[]): Promise<void> =>
  holding(parts, hosts, (held) => parts.edgeLock.hold(parts.primary, () => putBack(parts, held)))

async function onPrimary(
  parts: ReplaceParts,
  { certificate, pair }: Successor,
  held: readonly HeldHost[],
): Promise<readonly HeldHost[]> {
  const { primary, store, log, crashPoint, now } = parts
  const hosts = await unedited(primary, held, pair, log)
  if (hosts.length === 0) return []
  crashPoint('renew proxy before-intent')
  const intended = await intend(parts, hosts, { certificate, pair })
  crashPoint('renew proxy after-intent')
  try {
    await place(primary, hosts, pair, () => crashPoint('renew proxy swapped'))
    crashPoint('renew proxy reloaded')
    await prove(primary, namesOf(hosts), certificate.fingerprint, certificate.serial)
  } catch (fault) {
    await putBack(parts, intended).catch((error: unknown) =>
      log.error(
        { event: 'certificate_not_restored', err: error, names: certificate.names },
        'The old certificate could not be restored; retrying.',
      ),
    )
    throw fault
  }
  crashPoint('renew verify after-effect')
  const receipts = hosts.map((host) => ({
    host,
    receipt: withReplaced(
      host.inUse,
      chosen(certificate, 'installed'),
      primary.certificateFiles(host.inUse.host, pair).map(hashOf),
      (path) => primary.isCertificateFile(path),
    ),
  }))
  await removeUnused(primary)
  crashPoint('renew run before-finish')
  await book(store, receipts, (session) => session.appendEvent(renewed(certificate, hosts, now())))
  crashPoint('renew run after-finish')
  log.info(
    {
      event: 'certificate_replaced',
      names: certificate.names,
      serial: certificate.serial,
      hosts: hosts.length,
      server: primary.server,
    },
    'A certificate was replaced, and the Primary serves it.',
  )
  return receipts.map(({ host, receipt }) => ({ ...host, inUse: { ...host.inUse, ...under(host.inUse, receipt) } }))
}

/** An entry that is neither what was applied nor what is to come is somebody else's. */
async function unedited(edge: Edge, held: readonly HeldHost[], pair: SiteCertificate, log: Log): Promise<HeldHost[]> {
  const sound: HeldHost[] = []
  for (const host of held) {
    const { path, hash } = hashOf(entryOf(edge, host, pair))
    const stands = hashIn(await edge.hashFiles([path]), path)
    const known = [hash, hashIn(host.inUse.receipt.files, path), hashIn(host.inUse.intent?.files ?? [], path)]
    if (stands !== null && known.includes(stands)) sound.push(host)
    else
      log.warn(
        { event: 'certificate_file_edited', host: host.inUse.host, path },
        'The host keeps its certificate, because the file that names it was changed outside Drawbridge.',
      )
  }
  if (sound.length === 0 && held.length > 0)
    throw new Fault('Somebody changed the files that name the certificate; they were left alone.')
  return sound
}

/** Written down before anything stands: from here on the host is known to be on its way. */
async function intend(
  { primary, store }: ReplaceParts,
  hosts: readonly HeldHost[],
  { certificate, pair }: Successor,
): Promise<readonly HeldHost[]> {
  const intended: { host: HeldHost; receipt: Receipt }[] = []
  for (const host of hosts) {
    const former = host.inUse.intent?.former ?? (await entryNow(primary, host, pair))
    const files = primary.certificateFiles(host.inUse.host, pair).map(hashOf)
    const receipt = withIntent(host.inUse, { certificate: chosen(certificate, 'installed'), files, former })
    intended.push({ host, receipt })
  }
  await book(store, intended)
  return intended.map(({ host, receipt }) => ({ ...host, inUse: { ...host.inUse, ...under(host.inUse, receipt) } }))
}

async function entryNow(edge: Edge, host: HeldHost, pair: SiteCertificate): Promise<{ path: string; content: string }> {
  const { path } = entryOf(edge, host, pair)
  const [standing] = await edge.read([path])
  return { path, content: standing?.content ?? '' }
}

/** The old pairs stay beside the new one, for whoever must go back. */
async function place(
  edge: Edge,
  hosts: readonly HeldHost[],
  pair: SiteCertificate,
  swapped: () => void,
): Promise<void> {
  const files = byPath(hosts.flatMap(({ inUse: { host } }) => edge.certificateFiles(host, pair)))
  const expected = await edge.hashFiles(files.map(({ path }) => path))
  await edge.validate({ files, expected })
  for (const host of hosts) host.assertHeld()
  await edge.swap({ files, expected })
  swapped()
  await edge.reload()
}

/** Entries name the old pairs again. What is so already needs no reload; where an old pair is gone there is no way back. */
async function putBack({ primary, store, crashPoint }: ReplaceParts, hosts: readonly HeldHost[]): Promise<void> {
  const files: EdgeFile[] = []
  for (const { inUse: host } of hosts) {
    const { former } = host.intent ?? {}
    const before = host.receipt.files.filter(({ path }) => primary.isCertificateFile(path) && path !== former?.path)
    const stands = await primary.hashFiles(before.map(({ path }) => path))
    if (!former || before.some(({ path, hash }) => hashIn(stands, path) !== hash))
      throw new Fault(`The certificate that ${host.host} had is gone from the edge; it goes on with the new one.`)
    files.push({ ...former, secret: false })
  }
  crashPoint('renew proxy before-undo')
  const now = await primary.hashFiles(files.map(({ path }) => path))
  const changed = files.filter((file) => hashOf(file).hash !== hashIn(now, file.path))
  if (changed.length > 0) {
    await primary.swap({ files: changed, expected: now })
    // nginx may never have loaded what was taken away: then nothing is left to load.
    await primary.reload().catch(async (error: unknown) => {
      if (!(await isServedAsBefore(primary, hosts))) throw error
    })
  }
  await removeUnused(primary)
  crashPoint('renew proxy after-undo')
  await book(
    store,
    hosts.map((host) => ({ host, receipt: withoutIntent(host.inUse) })),
  )
}

async function isServedAsBefore(edge: Edge, hosts: readonly HeldHost[]): Promise<boolean> {
  const shown = await Promise.all(hosts.map(({ inUse: { host } }) => edge.handshake(host)))
  return shown.every(
    (each, i) => each.kind === 'certificate' && each.fingerprint === hosts[i]?.inUse.certificate.fingerprint,
  )
}

/** The Secondary gets the same as well as it can, and never decides. */
async function onSecondary(
  { secondary, edgeLock, store, crashPoint, log }: ReplaceParts,
  { certificate, pair }: Successor,
  hosts: readonly HeldHost[],
): Promise<void> {
  if (!secondary || hosts.length === 0) return
  const work = async () => {
    const there: HeldHost[] = []
    for (const host of hosts) {
      const { path } = entryOf(secondary, host, pair)
      if (hashIn(await secondary.hashFiles([path]), path) !== null) there.push(host)
    }
    if (there.length > 0) await place(secondary, there, pair, () => crashPoint('renew secondary swapped'))
    await prove(secondary, namesOf(there), certificate.fingerprint, certificate.serial)
    await removeUnused(secondary)
  }
  await edgeLock.hold(secondary, work)
  await book(
    store,
    hosts.map((host) => ({ host, receipt: withSecondary(host.inUse, certificate.fingerprint) })),
  )
  log.info(
    {
      event: 'secondary_certificate_replaced',
      names: certificate.names,
      serial: certificate.serial,
      server: secondary.server,
    },
    'The Secondary serves the new certificate.',
  )
}

async function removeUnused(edge: Edge): Promise<void> {
  const files = await edge.unusedCertificates()
  if (files.length > 0) await edge.swap({ files, expected: await edge.hashFiles(files.map(({ path }) => path)) })
}

/** The one file of the certificate's that is the host's own. */
function entryOf(edge: Edge, { inUse: { host } }: HeldHost, pair: SiteCertificate): EdgeFile {
  const entry = edge.certificateFiles(host, pair).at(-1)
  if (!entry) throw new Error(`a certificate without an entry for ${host}`)
  return entry
}

const namesOf = (hosts: readonly HeldHost[]): string[] => hosts.map(({ inUse: { host } }) => host)

/** One file for each path: hosts share the pair. */
const byPath = (files: readonly EdgeFile[]): EdgeFile[] => [...new Map(files.map((file) => [file.path, file])).values()]

const ATTEMPTS = 3
const PAUSE_MS = 150
const AT_ONCE = 16

/** Shakes hands with the edge for each host. Rejects unless every one of them is served with this certificate. */
async function prove(edge: Edge, hosts: readonly string[], fingerprint: string, serial: string): Promise<void> {
  for (let i = 0; i < hosts.length; i += AT_ONCE) {
    await Promise.all(hosts.slice(i, i + AT_ONCE).map((host) => proveOne(edge, host, fingerprint, serial)))
  }
}

/** A single failed handshake decides nothing. */
async function proveOne(edge: Edge, host: string, fingerprint: string, serial: string): Promise<void> {
  const isServed = (shown: Handshake) => shown.kind === 'certificate' && shown.fingerprint === fingerprint
  const shown = await poll(() => edge.handshake(host), isServed, { firstMs: PAUSE_MS, tries: ATTEMPTS })
  if (isServed(shown)) return
  const seen = shown.kind === 'certificate' ? `serial number ${shown.serial}` : 'no certificate'
  throw new Fault(`The edge ${edge.server} shows ${seen} for ${host}, not serial number ${serial}.`)
}

/** One event for a certificate, whatever number of hosts it serves: its first name stands for them. */
const renewed = (
  { names, serial, notAfter, issued }: InstalledCertificate,
  hosts: readonly unknown[],
  at: number,
): NewEvent => ({
  at,
  type: 'certificate.renewed',
  host: names[0] ?? '',
  facts: {
    names: names.join(', '),
    serial,
    notAfter: notAfter.toISOString(),
    hosts: hosts.length,
    source: issued ? 'issued' : 'placed',
  },
})

export const renewalFailed = ({ names, attempts, failures, nextAttemptAt, reason }: Renewal, at: number): NewEvent => ({
  at,
  type: 'certificate.renewal_failed',
  host: names[0] ?? '',
  facts: {
    names: names.join(', '),
    reason: reason ?? '',
    attempts,
    failures,
    nextAttemptAt: nextAttemptAt === undefined ? null : new Date(nextAttemptAt).toISOString(),
  },
})
