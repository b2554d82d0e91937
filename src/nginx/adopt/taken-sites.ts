import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { OutsideChange } from '../../edge/engine/web-server.ts'
import { faultOf, withEdgeFaults } from '../../edge/faults.ts'
import {
  adoptedFile,
  adoptedFolder,
  adoptedPlace,
  type OutsideFile,
  SHADOW_PREFIX,
  SITE_RECORD,
} from '../../estate/layout.ts'
import { createFile, replaceFile, syncFileNow, syncFolder } from '../../primitives/durable-file.ts'
import type { TakenOut } from '../generations/nginx-server.ts'
import { type SiteFile, sha256 } from './find-site.ts'

/** The record of a site that a plan has taken out of its files. The original and the present texts of the files are beside it. */
interface TakenSite {
  readonly host: string
  readonly files: readonly {
    readonly file: string
    readonly included: readonly string[]
    readonly before: string
    readonly after: string
  }[]
}

const BEFORE = 'before'
const AFTER = 'after'

/** The files of a host's site. Throws if its text is not the `expected` one, or if it cannot be taken out. */
type ReadSite = (host: string, expected?: string) => readonly SiteFile[]

interface TakenSitesParts {
  readonly read: ReadSite
  /** Whether a run has written the file at this path. */
  readonly isWrittenBy: (run: string, path: string) => boolean
}

/**
 * Takes hand-written sites out of their files, and puts them back. The edge keeps both texts of each file beside the record of the
 * plan. A change has only hashes of texts, so its sender cannot write nginx configuration.
 */
export class TakenSites {
  readonly #folder: string
  readonly #read: ReadSite
  readonly #isWrittenBy: TakenSitesParts['isWrittenBy']

  constructor(folder: string, { read, isWrittenBy }: TakenSitesParts) {
    this.#folder = folder
    this.#read = read
    this.#isWrittenBy = isWrittenBy
  }

  /** See `TakenOutSites`. Returns the existing record if there is one. */
  record({ host, plan, run, text }: TakenOut & { readonly text: string | undefined }): OutsideFile | undefined {
    const path = adoptedFile(plan)
    const standing = this.#standing(path)
    if (standing !== undefined) {
      assertOf(host, standing)
      if (!run || !this.#isWrittenBy(run.run, path)) this.#assertTakenOut(path)
      return { path, content: standing, secret: false }
    }
    const files = this.#read(host, text)
    if (files.length === 0) return undefined
    const record: TakenSite = {
      host,
      files: files.map(({ before, after, ...file }) => ({ ...file, before: sha256(before), after: sha256(after) })),
    }
    return { path, content: JSON.stringify(record, null, 2), secret: false }
  }

  /** See `TakenOutSites`. */
  putBack({ host, plan, run }: TakenOut): OutsideFile | undefined {
    const path = adoptedFile(plan)
    const standing = this.#standing(path)
    if (standing === undefined || !run || !this.#isWrittenBy(run.run, path)) return undefined
    assertOf(host, standing)
    return { path, content: null, secret: false }
  }

  /** Rejects a site that an administrator has written again since: it must not be taken out a second time. */
  #assertTakenOut(path: string): void {
    for (const { file, after } of this.#kept(path)) if (textAt(file) !== after) throw edited(file)
  }

  /** The texts for a test of nginx, by the path by which nginx includes them. */
  texts(changed: readonly OutsideFile[]): Map<string, string> {
    const pairs = changed.flatMap((file): [string, string][] => {
      if (file.content !== null) {
        const files = this.#filesOf(file)
        return files.flatMap(({ included, after }) => included.map((path): [string, string] => [path, after]))
      }
      return this.#kept(file.path).flatMap(({ included, before }) =>
        included.map((path): [string, string] => [path, before]),
      )
    })
    return new Map(pairs)
  }

  /**
   * Writes the records and backups of the sites that will be taken out, and puts the sites back whose record is removed. Additions
   * must come first: if nginx reads a site and an entry for the same host, it ignores the second one.
   */
  async prepare(changed: readonly OutsideFile[]): Promise<OutsideChange> {
    const undo: (() => void)[] = []
    const takeBack = () => {
      for (const step of undo.splice(0).toReversed()) step()
    }
    const outgoing: SiteFile[] = []
    const finished: string[] = []
    try {
      for (const file of changed) {
        const place = dirname(adoptedPlace(this.#folder, file.path))
        if (file.content === null) {
          for (const site of this.#kept(file.path)) undo.push(replace(site, site.after, site.before))
          finished.push(place)
        } else if (this.#standing(file.path) === undefined) {
          const files = this.#filesOf(file)
          undo.push(() => rmSync(place, { recursive: true, force: true }))
          await withEdgeFaults(place, () => this.#keep(place, file.content ?? '', files))
          outgoing.push(...files)
        } else outgoing.push(...this.#kept(file.path))
      }
    } catch (error) {
      takeBack()
      throw error
    }
    return {
      takeOut: () => {
        for (const site of outgoing) undo.push(replace(site, site.before, site.after))
      },
      takeBack,
      keep: () => {
        for (const place of finished) rmSync(place, { recursive: true, force: true })
      },
    }
  }

  /** The folders of the files from which sites were taken out. After a crash, drafts may be left there. */
  folders(): ReadonlySet<string> {
    const places = existsSync(adoptedFolder(this.#folder)) ? readdirSync(adoptedFolder(this.#folder)) : []
    const records = places.flatMap((name) => this.#standing(adoptedFile(name)) ?? [])
    return new Set(
      records.flatMap((text) =>
        ((JSON.parse(text) as Partial<TakenSite>).files ?? []).map(({ file }) => dirname(file)),
      ),
    )
  }

  #standing(path: string): string | undefined {
    const place = adoptedPlace(this.#folder, path)
    return existsSync(place) ? readFileSync(place, 'utf8') : undefined
  }

  /** The present files of a site. Throws if they do not match the record. */
  #filesOf({ path, content }: OutsideFile): readonly SiteFile[] {
    if (this.#standing(path) !== undefined) return this.#kept(path)
    const { host, files } = JSON.parse(content ?? '') as TakenSite
    const found = this.#read(host)
    return files.map(({ file, before, after }) => {
      const now = found.find((site) => site.file === file)
      if (!now || sha256(now.before) !== before || sha256(now.after) !== after) throw edited(file)
      return now
    })
  }

  /** The files of a site from its record. Empty without a record. */
  #kept(path: string): readonly SiteFile[] {
    const content = this.#standing(path)
    if (content === undefined) return []
    const place = dirname(adoptedPlace(this.#folder, path))
    const { files } = JSON.parse(content) as TakenSite
    return files.map(({ file, included }, at) => ({
      file,
      included,
      before: readFileSync(join(place, `${at}.${BEFORE}`), 'utf8'),
      after: readFileSync(join(place, `${at}.${AFTER}`), 'utf8'),
    }))
  }

  /** Writes the record last: if it exists, both texts of every file exist. */
  async #keep(place: string, record: string, files: readonly SiteFile[]): Promise<void> {
    // Remove what a crash left: without a record it is incomplete.
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place, { recursive: true, mode: 0o700 })
    for (const [at, { before, after }] of files.entries()) {
      await createFile(join(place, `${at}.${BEFORE}`), before, 0o600)
      await createFile(join(place, `${at}.${AFTER}`), after, 0o600)
    }
    await syncFolder(place)
    // A rename: if the record exists, it is complete.
    await replaceFile(join(place, SITE_RECORD), record, 0o600)
    await syncFolder(dirname(place))
  }
}

function assertOf(host: string, record: string): void {
  if ((JSON.parse(record) as Partial<TakenSite>).host !== host)
    throw new EdgeFault(
      'change_invalid',
      `The plan has taken out the site of another host than ${host}. Nothing was changed.`,
    )
}

const textAt = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const edited = (file: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${file} was changed outside Drawbridge. It was not overwritten.`)

/** Replaces a file by one rename if it has the expected text. Does nothing if it already has the wanted text. */
function replace({ file }: SiteFile, expected: string, wanted: string): () => void {
  const write = (from: string, to: string): boolean => {
    const text = readFileSync(file, 'utf8')
    if (text === to) return false
    if (text !== from) throw edited(file)
    const { mode, uid, gid } = statSync(file)
    const draft = join(dirname(file), `${SHADOW_PREFIX}${process.pid}-${randomBytes(8).toString('hex')}`)
    try {
      writeFileSync(draft, to, { flag: 'wx', mode: 0o600 })
      chownSync(draft, uid, gid)
      chmodSync(draft, mode & 0o7777)
      sync(draft)
      renameSync(draft, file)
      sync(dirname(file))
    } finally {
      rmSync(draft, { force: true })
    }
    return true
  }
  try {
    return write(expected, wanted) ? () => void write(wanted, expected) : () => undefined
  } catch (error) {
    throw faultOf(file, error)
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    syncFileNow(descriptor, path)
  } finally {
    closeSync(descriptor)
  }
}
