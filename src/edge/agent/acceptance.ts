import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { parseEndpoint } from '../../model/address.ts'
import { isInZone } from '../../model/dns-name.ts'
import { escapeText } from '../../model/escape-text.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import { isWithoutSite } from '../adopt/released-site.ts'
import { CERTIFICATE_KINDS } from '../config/gathered.ts'
import {
  blockFile,
  isOutside,
  linesFile,
  MAX_PARTS,
  type Path,
  parsePath,
  pemFile,
  releasedFile,
} from '../config/layout.ts'
import { readEntry } from '../config/read-entry.ts'
import { certificateId, idInEntry, pemInPart, renderPair } from '../config/render-certificate.ts'
import type { Listening } from '../config/sockets.ts'
import { type Edge, EdgeFault, type EdgeFile } from '../contract.ts'
import { hashOf, hashOfFound } from '../files/files.ts'
import type { PresentGeneration } from '../generations/present.ts'
import { isForHost } from '../visit/ask.ts'
import { hasEntry, type OutsideFiles } from './outside-files.ts'
import { type AgentSites, siteHost } from './sites.ts'

/** What entries of this edge may be proxied to. */
export interface AllowedTargets {
  readonly addresses: readonly string[]
  /** Each from and to, both included. */
  readonly ports: readonly (readonly [number, number])[]
}

interface AcceptanceParts {
  readonly listening: () => Promise<Listening>
  readonly targets: AllowedTargets
  readonly present: PresentGeneration
  readonly edge: Pick<Edge, 'releasedFiles' | 'fencesOf'>
  readonly sites: Pick<AgentSites, 'fault'>
  readonly outside: Pick<OutsideFiles, 'note' | 'undoFault'>
  /** The zones of the hosts that entries may be for. */
  readonly zones: readonly string[]
}

const MOST_PAIRS_KNOWN = 200

export const NO_ZONES =
  'edge.yaml has no zones, so no new host is taken. Add the zones that its services expose, such as zones: [example.test], and restart the agent'

/**
 * Decides which files an agent takes from a service. The service may be in the hands of somebody else, so no text of nginx's language
 * is taken as it comes: a file must be exactly what the renderer makes of a valid record, or what stood at the same path of this very
 * edge before, which an undo puts back.
 */
export class Acceptance {
  readonly #parts: AcceptanceParts
  /** Pairs that were checked, by the hash of both texts: hosts with a wildcard certificate bring the same pair again and again. */
  readonly #pairs = new LruCache<string, X509Certificate>(MOST_PAIRS_KNOWN)

  constructor(parts: AcceptanceParts) {
    this.#parts = parts
  }

  /** Rejects with `change_invalid` at the first file that is not taken. */
  async assertAcceptable(files: readonly EdgeFile[]): Promise<void> {
    // What is judged must be what is done: of one path twice, one text would be judged and the other one written.
    const twice = repeated(files.map(({ path }) => path))
    if (twice !== undefined) throw refused(twice, 'It is named twice')
    const contents = new Map(files.map(({ path, content }) => [path, content]))
    for (const file of files) {
      const parsed = pathOf(file.path)
      if (parsed.kind === 'base') throw refused(file.path, 'The agent alone writes it')
      const reason = isOutside(file.path)
        ? await this.#outsideFault(parsed, file, contents)
        : // Whether a link stood there before is checked when it is put back.
          file.content !== null && (await this.#insideFault(parsed, file.path, file.content, contents))
      if (reason) throw refused(file.path, reason)
    }
  }

  /** Before these files are written: see `OutsideFiles`. */
  async noteWritten(files: readonly EdgeFile[]): Promise<void> {
    const { present, outside } = this.#parts
    await outside.note(files, (path) => hashOfFound(path, present.look(path)).hash)
  }

  /** The host whose fence a change of this file needs. Undefined for what belongs to no host, such as a pair. */
  fencedHost({ path, content }: EdgeFile): string | undefined {
    const parsed = pathOf(path)
    if (parsed.kind !== 'adopted') return 'host' in parsed ? parsed.host : undefined
    const record = content ?? this.#parts.present.content(path)
    if (record === null) return undefined
    const host = siteHost(record)
    if (host === undefined) throw refused(path, 'It names no host')
    return host
  }

  /** A fence is kept for ever, so only hosts that may have entries get one, and those that have one. */
  async assertFenceable(hosts: readonly string[]): Promise<void> {
    const foreign = hosts.filter((host) => this.#zoneFault(host) !== undefined && !this.#isServed(host))
    const known = new Set((await this.#parts.edge.fencesOf(foreign)).map(({ host }) => host))
    const refusedHost = foreign.find((host) => !known.has(host))
    if (refusedHost !== undefined) throw refused(refusedHost, this.#zoneFault(refusedHost) ?? '')
  }

  /** What stood in a generation that is kept is put back by an undo. */
  async #insideFault(parsed: Path, path: string, content: string, contents: Contents): Promise<string | undefined> {
    const reason = await this.#fault(parsed, path, content, contents)
    return reason !== undefined && this.#parts.present.hasStood(path, hashOf(content) ?? '') ? undefined : reason
  }

  /** Files beside the edge's folder are the administrator's. They are added by a release or an adoption, and go by the undo of it. */
  async #outsideFault(
    parsed: Path,
    { path, content, link }: EdgeFile,
    contents: Contents,
  ): Promise<string | undefined> {
    const { present, outside } = this.#parts
    if (link !== undefined) return 'It cannot be a link'
    const { hash: standing } = hashOfFound(path, present.look(path))
    const undoFault = standing === null ? undefined : outside.undoFault(path, standing)
    if (content === null) {
      if (undoFault !== undefined) return undoFault
      return parsed.kind === 'released' && standing !== null && !hasEntry(parsed.host, contents)
        ? 'Nothing would serve the host in its place'
        : undefined
    }
    if (parsed.kind === 'released' && standing === hashOf(content)) return undefined
    if (parsed.kind === 'released' && undoFault !== undefined && !this.#isLeftOver(parsed.host))
      return 'Another file stands there. Move it away'
    return this.#fault(parsed, path, content, contents)
  }

  /** Whether a released site was adopted again: its file has no server any more, and nothing uses the pair beside it. */
  #isLeftOver(host: string): boolean {
    const found = this.#parts.present.look(releasedFile(host, 'conf'))
    return found.kind === 'file' && isWithoutSite(found.content.toString())
  }

  async #fault(parsed: Path, path: string, content: string, contents: Contents): Promise<string | undefined> {
    switch (parsed.kind) {
      case 'lines':
      case 'block':
        return this.#entryFault(parsed.host, path, content)
      case 'certificate entry':
        return this.#certificateEntryFault(parsed.host, content, contents)
      case 'certificate':
        return this.#pairFault(parsed.id, contents)
      case 'released':
        return this.#releasedFault(parsed.host, path, content, contents)
      case 'adopted':
        return this.#parts.sites.fault(parsed.planId, content, contents)
      default:
        return 'The agent alone writes it'
    }
  }

  async #entryFault(host: string, path: string, content: string): Promise<string | undefined> {
    const record = readEntry(host, path, content, await this.#parts.listening())
    if (!record) return 'It is not an entry as Drawbridge writes it'
    const { targets } = this.#parts
    const outOfZones = this.#zoneFault(host)
    if (outOfZones !== undefined) return outOfZones
    const isAllowed = (target: string) => {
      const endpoint = parseEndpoint(target.replace(/^https?:\/\//, ''), 0)
      return (
        endpoint !== undefined &&
        targets.addresses.includes(endpoint.address) &&
        targets.ports.some(([first, last]) => endpoint.port >= first && endpoint.port <= last)
      )
    }
    const other = [record.target, ...(record.furtherTargets ?? [])].find((target) => !isAllowed(target))
    return other === undefined ? undefined : `${other} is not among the targets of edge.yaml`
  }

  #zoneFault(host: string): string | undefined {
    const { zones } = this.#parts
    if (zones.some((zone) => isInZone(host, zone))) return undefined
    return zones.length === 0 ? NO_ZONES : 'The host is in none of the zones of edge.yaml'
  }

  /** A host that is served here is renewed, released and removed, whatever the zones are. */
  #isServed(host: string): boolean {
    return [linesFile(host), blockFile(host)].some((path) => this.#parts.present.content(path) !== null)
  }

  #certificateEntryFault(host: string, content: string, contents: Contents): string | undefined {
    const outOfZones = this.#zoneFault(host)
    if (outOfZones !== undefined && !this.#isServed(host)) return outOfZones
    const id = idInEntry(content)
    if (id === undefined || content !== `${host} ${id};\n`) return 'It names no pair'
    const leaf = this.#leafOf(id, contents)
    if (typeof leaf === 'string') return leaf
    return isForHost(leaf, host) ? undefined : 'The certificate is not for this host'
  }

  #pairFault(id: string, contents: Contents): string | undefined {
    const leaf = this.#leafOf(id, contents)
    return typeof leaf === 'string' ? leaf : undefined
  }

  /** The certificate of the pair as it will stand after the change, or what is wrong with it. */
  #leafOf(id: string, contents: Contents): X509Certificate | string {
    const contentAt = (path: string) => {
      const changed = contents.get(path)
      return changed === undefined ? this.#parts.present.content(path) : changed
    }
    const parts = CERTIFICATE_KINDS.map((kind) =>
      Array.from({ length: MAX_PARTS[kind] }, (_, at) => contentAt(pemFile(kind, id, at + 1)) ?? ''),
    )
    const known = hashOf(JSON.stringify([id, parts])) ?? ''
    const leaf = this.#pairs.get(known) ?? checkedPair(id, parts)
    if (typeof leaf !== 'string') this.#pairs.set(known, leaf)
    return leaf
  }

  /** What is released is what stands here: the text is made anew and compared. */
  async #releasedFault(host: string, path: string, content: string, contents: Contents): Promise<string | undefined> {
    if (typeof contents.get(releasedFile(host, 'conf')) !== 'string') return 'It comes without the block of the host'
    const pair = releasedPair(host, contents)
    if (pair && typeof pair !== 'string' && !isForHost(pair.leaf, host)) return 'The certificate is not for this host'
    if (!path.endsWith('.conf')) return typeof pair === 'string' ? pair : pair ? undefined : 'It has no counterpart'
    if (typeof pair === 'string') return pair
    const rendered = await this.#parts.edge.releasedFiles(host, pair && { fingerprint: '', ...pair })
    const isSame = rendered.some((file) => file.path === path && file.content === content)
    return isSame ? undefined : 'It is not what stands on this edge'
  }
}

type Contents = ReadonlyMap<string, string | null>

/** The certificate of a pair whose key belongs to it, or what is wrong with it. `parts`: those of the certificate and of the key. */
function checkedPair(id: string, parts: readonly (readonly string[])[]): X509Certificate | string {
  const [certificate = [], key = []] = parts
  const [certificatePem, keyPem] = [certificate, key].map((texts) => texts.map(pemInPart).join(''))
  const leaf = matching(certificatePem ?? '', keyPem ?? '')
  if (typeof leaf === 'string') return leaf
  if (certificateId(leaf.fingerprint256) !== id) return 'The certificate has another id'
  const rendered = renderedPair(leaf.fingerprint256, certificatePem ?? '', keyPem ?? '')
  const isAsRendered = CERTIFICATE_KINDS.every((kind, at) =>
    (parts[at] ?? []).every((text, part) => text === (rendered.get(pemFile(kind, id, part + 1)) ?? '')),
  )
  return isAsRendered ? leaf : 'It is not written as Drawbridge writes it'
}

/** Empty for a text that is not PEM. */
function renderedPair(fingerprint: string, certificatePem: string, keyPem: string): Contents {
  try {
    return new Map(renderPair({ fingerprint, certificatePem, keyPem }).map(({ path, content }) => [path, content]))
  } catch {
    return new Map()
  }
}

function releasedPair(host: string, contents: Contents) {
  const [certificatePem, keyPem] = ['crt', 'key'].map((ending) => contents.get(`released/${host}.${ending}`))
  if (typeof certificatePem !== 'string' && typeof keyPem !== 'string') return undefined
  const leaf = matching(certificatePem ?? '', keyPem ?? '')
  return typeof leaf === 'string' ? leaf : { leaf, certificatePem: certificatePem ?? '', keyPem: keyPem ?? '' }
}

function matching(certificatePem: string, keyPem: string): X509Certificate | string {
  try {
    const leaf = new X509Certificate(certificatePem)
    const publicKey = createPublicKey(createPrivateKey(keyPem))
    return publicKey.equals(leaf.publicKey) ? leaf : 'The key belongs to another certificate'
  } catch {
    return 'It is not a certificate with its key'
  }
}

/** The first text that is there more than once. */
export function repeated(texts: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}

/** Throws `change_invalid` for a path that is none of an edge. */
function pathOf(path: string): Path {
  try {
    return parsePath(path)
  } catch {
    throw refused(path, 'It is not a path of an edge')
  }
}

const refused = (path: string, reason: string): EdgeFault =>
  new EdgeFault('change_invalid', `The agent does not accept ${escapeText(path.slice(0, 320))}: ${reason}.`)
