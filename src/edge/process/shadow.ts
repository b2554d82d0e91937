import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createFile } from '../../primitives/durable-file.ts'
import {
  BASE_FILE,
  FOLDERS,
  isReleased,
  placeOf,
  releasedFolder,
  releasedPlace,
  SHADOW_PREFIX,
  STAGING,
} from '../config/layout.ts'
import { EdgeFault, type EdgeFile } from '../contract.ts'
import { assertStaging, readEdgeFile, withEdgeFaults } from '../files/files.ts'
import { includePattern, includesOurs, readMainFile } from '../reading/main-file.ts'
import type { Refusal } from '../reading/refusal.ts'
import { rewrite } from '../reading/text/directives.ts'
import type { EdgeSettings } from '../settings.ts'
import { testConfiguration } from './nginx-program.ts'

/**
 * Tests the configuration with these files without writing them to the paths that nginx loads. The copy of the main file is
 * in the same folder as the original, because relative paths start there.
 */
export async function testShadow(
  settings: EdgeSettings,
  files: readonly EdgeFile[],
  { begun, signal }: { readonly begun?: (() => void) | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Refusal | undefined> {
  await assertStaging(settings.folder)
  const main = await readMainFile(settings)
  const mark = randomBytes(8).toString('hex')
  const folder = join(settings.folder, STAGING, `shadow-${mark}`)
  const shadow = join(dirname(settings.config), `${SHADOW_PREFIX}${mark}`)
  try {
    await withEdgeFaults(folder, async () => mkdirSync(folder, { mode: 0o700 }))
    const overlay = await stage(settings, folder, files)
    const text = rewrite(main, (directive) =>
      includesOurs(directive, settings) ? overlay.expand(includePattern(directive, settings) ?? '') : undefined,
    )
    await withEdgeFaults(shadow, () => createFile(shadow, text, 0o600, false))
    const testing = testConfiguration(settings, shadow, signal)
    begun?.()
    const refusal = await testing
    if (refusal?.file === undefined) return refusal
    return { ...refusal, file: refusal.file === shadow ? settings.config : overlay.liveName(refusal.file) }
  } finally {
    await Promise.all([rm(shadow, { force: true }), rm(folder, { recursive: true, force: true })])
  }
}

/** Writes drafts of all files, and of the base file with its includes expanded. */
async function stage(settings: EdgeSettings, folder: string, files: readonly EdgeFile[]): Promise<Overlay> {
  const changed = new Map<string, string | null>()
  for (const [index, { path, content }] of files.entries()) {
    const draft = content === null ? null : join(folder, String(index))
    if (draft)
      await withEdgeFaults(path, () => createFile(draft, namingDrafts(settings.folder, content, changed), 0o600, false))
    changed.set(path, draft)
  }
  const base = join(folder, BASE_FILE)
  const [text, onDisk] = await Promise.all([baseText(settings, files), filesOnDisk(settings.folder)])
  const overlay = new Overlay(settings.folder, onDisk, changed.set(BASE_FILE, base))
  const expanded = rewrite(text, (directive) => {
    const pattern = includePattern(directive, settings)
    return pattern === undefined ? undefined : overlay.expand(pattern)
  })
  assertAllIncluded(overlay)
  await withEdgeFaults(BASE_FILE, () => createFile(base, expanded, 0o600, false))
  return overlay
}

/** A released file names its certificate and key by path. In the test they are drafts, too, and come before it. */
const namingDrafts = (folder: string, content: string | null, drafts: ReadonlyMap<string, string | null>): string =>
  [...drafts].reduce(
    (text, [path, draft]) => (draft && isReleased(path) ? text.replaceAll(releasedPlace(folder, path), draft) : text),
    content ?? '',
  )

async function baseText({ folder, server }: EdgeSettings, files: readonly EdgeFile[]): Promise<string> {
  const base = files.find(({ path }) => path === BASE_FILE) ?? (await readEdgeFile(folder, BASE_FILE))
  if (base.content !== null) return base.content
  throw new EdgeFault(
    'unavailable',
    `${folder}/${BASE_FILE} of edge ${server} is missing. Restart Drawbridge to write it again.`,
  )
}

function assertAllIncluded(overlay: Overlay): void {
  const missing = overlay
    .unused()
    .filter((path) => path !== BASE_FILE && !(isReleased(path) && !path.endsWith('.conf')))
  if (missing.length === 0) return
  throw new EdgeFault(
    'unavailable',
    `${BASE_FILE} was changed outside Drawbridge and does not include ${missing.join(', ')}. Restart Drawbridge to write it again.`,
  )
}

async function filesOnDisk(folder: string): Promise<string[]> {
  const ours = FOLDERS.filter(({ path }) => path !== STAGING)
  const lists = await Promise.all(
    ours.map(async ({ path }) => {
      const names = await withEdgeFaults(path, async () => readdirSync(join(folder, path)))
      return names.map((name) => join(path, name))
    }),
  )
  const released = await readdir(releasedFolder(folder)).catch(() => [])
  return [...lists.flat(), ...released.map((name) => `released/${name}`)]
}

/** The files in an edge's folder after the change: files on disk, some replaced by drafts or removed. */
class Overlay {
  /** Paths relative to the folder. */
  readonly #onDisk: readonly string[]
  /** The path of a file's draft; null when the change removes the file. */
  readonly #changed: ReadonlyMap<string, string | null>
  readonly #folder: string
  readonly #used = new Set<string>()

  constructor(folder: string, onDisk: readonly string[], changed: ReadonlyMap<string, string | null>) {
    this.#folder = folder
    this.#onDisk = onDisk
    this.#changed = changed
  }

  /**
   * Expands an include of our files to one include per file, in nginx's order. Undefined for any other include. Only the
   * patterns that Drawbridge writes are understood: a star and an ending.
   */
  expand(pattern: string): string | undefined {
    const folder = this.#relative(dirname(pattern))
    if (folder === undefined) return undefined
    const ending = basename(pattern).slice(1)
    const names = [...new Set([...this.#onDisk, ...this.#changed.keys()])].filter(
      (path) => dirname(path) === folder && path.endsWith(ending) && !basename(path).startsWith('.'),
    )
    const files = names.toSorted().flatMap((path) => this.#placeOf(path) ?? [])
    return files.map((file) => `include ${file};`).join(' ')
  }

  /** Drafts that no include has named: a test would not cover them. */
  unused(): string[] {
    return [...this.#changed].flatMap(([path, draft]) => (draft === null || this.#used.has(path) ? [] : [path]))
  }

  /** The live path of a tested file. */
  liveName(file: string): string {
    const [path] = [...this.#changed].find(([, draft]) => draft === file) ?? []
    return path === undefined ? file : placeOf(this.#folder, path)
  }

  #placeOf(path: string): string | undefined {
    this.#used.add(path)
    const draft = this.#changed.get(path)
    return draft === undefined ? placeOf(this.#folder, path) : (draft ?? undefined)
  }

  #relative(folder: string): string | undefined {
    if (folder === this.#folder) return '.'
    if (folder === releasedFolder(this.#folder)) return 'released'
    return folder.startsWith(`${this.#folder}/`) ? folder.slice(this.#folder.length + 1) : undefined
  }
}
