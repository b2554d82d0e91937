import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createFile } from '../../primitives/durable-file.ts'
import { BASE_FILE, FOLDERS, SHADOW_PREFIX, STAGING } from '../config/layout.ts'
import { EdgeFault, type EdgeFile } from '../contract.ts'
import { assertStaging, readEdgeFile, withEdgeFaults } from '../files/files.ts'
import { includePattern, includesOurs, readMainFile } from '../reading/main-file.ts'
import type { Refusal } from '../reading/refusal.ts'
import { rewrite } from '../reading/text/directives.ts'
import type { EdgeSettings } from '../settings.ts'
import { testConfiguration } from './nginx-program.ts'

/**
 * Tests what the configuration would be with these files while none of them stands where nginx would load it from. The
 * shadow of the main file stands beside it, because relative paths begin at its folder.
 */
export async function testShadow(
  settings: EdgeSettings,
  files: readonly EdgeFile[],
  begun?: () => void,
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
      includesOurs(directive, settings) ? overlay.writtenOut(includePattern(directive, settings) ?? '') : undefined,
    )
    await withEdgeFaults(shadow, () => createFile(shadow, text, 0o600, false))
    const testing = testConfiguration(settings, shadow)
    begun?.()
    const refusal = await testing
    if (refusal?.file === undefined) return refusal
    return { ...refusal, file: refusal.file === shadow ? settings.config : overlay.liveName(refusal.file) }
  } finally {
    await Promise.all([rm(shadow, { force: true }), rm(folder, { recursive: true, force: true })])
  }
}

/** Drafts of all files, and of the base file with its includes written out. */
async function stage(settings: EdgeSettings, folder: string, files: readonly EdgeFile[]): Promise<Overlay> {
  const changed = new Map<string, string | null>()
  for (const [index, { path, content }] of files.entries()) {
    const draft = content === null ? null : join(folder, String(index))
    if (draft) await withEdgeFaults(path, () => createFile(draft, content ?? '', 0o600, false))
    changed.set(path, draft)
  }
  const base = join(folder, BASE_FILE)
  const [text, stands] = await Promise.all([baseText(settings, files), standing(settings.folder)])
  const overlay = new Overlay(settings.folder, stands, changed.set(BASE_FILE, base))
  const writtenOut = rewrite(text, (directive) => {
    const pattern = includePattern(directive, settings)
    return pattern === undefined ? undefined : overlay.writtenOut(pattern)
  })
  assertAllSeen(overlay)
  await withEdgeFaults(BASE_FILE, () => createFile(base, writtenOut, 0o600, false))
  return overlay
}

async function baseText({ folder, server }: EdgeSettings, files: readonly EdgeFile[]): Promise<string> {
  const base = files.find(({ path }) => path === BASE_FILE) ?? (await readEdgeFile(folder, BASE_FILE))
  if (base.content !== null) return base.content
  throw new EdgeFault('unavailable', `The edge ${server} was not prepared: ${folder}/${BASE_FILE} is missing.`)
}

function assertAllSeen(overlay: Overlay): void {
  const unseen = overlay.unused().filter((path) => path !== BASE_FILE)
  if (unseen.length === 0) return
  throw new EdgeFault('unavailable', `${BASE_FILE} was changed: it does not include ${unseen.join(', ')}.`)
}

async function standing(folder: string): Promise<string[]> {
  const ours = FOLDERS.filter(({ path }) => path !== STAGING)
  const lists = await Promise.all(
    ours.map(async ({ path }) => {
      const names = await withEdgeFaults(path, async () => readdirSync(join(folder, path)))
      return names.map((name) => join(path, name))
    }),
  )
  return lists.flat()
}

/** The files below an edge's folder as they would be: what stands, some of it replaced by drafts or taken away. */
class Overlay {
  /** Paths relative to the folder. */
  readonly #standing: readonly string[]
  /** Where the draft of a file is; null: it would not be there. */
  readonly #changed: ReadonlyMap<string, string | null>
  readonly #folder: string
  readonly #used = new Set<string>()

  constructor(folder: string, standing: readonly string[], changed: ReadonlyMap<string, string | null>) {
    this.#folder = folder
    this.#standing = standing
    this.#changed = changed
  }

  /**
   * An include of files of ours, written out file by file in nginx's own order; undefined for any other include. Patterns
   * are those that we write ourselves: a star and an ending.
   */
  writtenOut(pattern: string): string | undefined {
    const folder = this.#relative(dirname(pattern))
    if (folder === undefined) return undefined
    const ending = basename(pattern).slice(1)
    const names = [...new Set([...this.#standing, ...this.#changed.keys()])].filter(
      (path) => dirname(path) === folder && path.endsWith(ending) && !basename(path).startsWith('.'),
    )
    const files = names.toSorted().flatMap((path) => this.#placeOf(path) ?? [])
    return files.map((file) => `include ${file};`).join(' ')
  }

  /** Drafts that nothing included so far: a test would not have seen them. */
  unused(): string[] {
    return [...this.#changed].flatMap(([path, draft]) => (draft === null || this.#used.has(path) ? [] : [path]))
  }

  /** The name under which a file that was tested stands, or would stand. */
  liveName(file: string): string {
    const [path] = [...this.#changed].find(([, draft]) => draft === file) ?? []
    return path === undefined ? file : `${this.#folder}/${path}`
  }

  #placeOf(path: string): string | undefined {
    this.#used.add(path)
    const draft = this.#changed.get(path)
    return draft === undefined ? `${this.#folder}/${path}` : (draft ?? undefined)
  }

  #relative(folder: string): string | undefined {
    if (folder === this.#folder) return '.'
    return folder.startsWith(`${this.#folder}/`) ? folder.slice(this.#folder.length + 1) : undefined
  }
}
