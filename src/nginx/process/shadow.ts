import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { assertStaging, withEdgeFaults } from '../../edge/faults.ts'
import { CURRENT } from '../../edge/layout.ts'
import { BASE_FILE, type OutsideFile, placeOf, releasedPlace, SHADOW_PREFIX } from '../../estate/layout.ts'
import { Drafts, includeOf } from '../../estate/reading/include-drafts.ts'
import { includesOurs, readMainFile } from '../../estate/reading/main-file.ts'
import type { Refusal } from '../../estate/reading/refusal.ts'
import { rewrite } from '../../estate/reading/text/directives.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { createFile } from '../../primitives/durable-file.ts'

/** The subject of a test: a generation, and further files outside the edge's folder. */
interface Tested {
  /** The absolute path of the generation. */
  readonly folder: string
  readonly released: readonly OutsideFile[]
  /** The tested texts of the administrator's files, by the path by which nginx includes them. */
  readonly others: ReadonlyMap<string, string>
}

/**
 * Tests the configuration with a generation that nginx does not include yet. The copy of the main file is in the same folder as
 * the original, because relative paths start there.
 */
export async function testShadow(
  settings: EdgeSettings,
  { folder, released, others }: Tested,
  test: (config: string) => Promise<Refusal | undefined>,
): Promise<Refusal | undefined> {
  await assertStaging(settings.folder)
  const main = await readMainFile(settings)
  const shadow = join(dirname(settings.config), `${SHADOW_PREFIX}${process.pid}-${randomBytes(8).toString('hex')}`)
  const drafts = new Map(released.map(({ path }, at) => [path, join(folder, `released-${at}`)]))
  const drafted = new Drafts(folder, settings.config, others)
  const included = [
    ...includedFiles(settings.folder).map((path) =>
      path === join(settings.folder, BASE_FILE) ? join(folder, BASE_FILE) : path,
    ),
    ...released.flatMap(({ path, content }) =>
      content !== null && path.endsWith('.conf') ? (drafts.get(path) ?? []) : [],
    ),
  ]
  try {
    for (const { path, content } of released)
      if (content !== null)
        await withEdgeFaults(path, () =>
          createFile(drafts.get(path) ?? '', namingDrafts(settings.folder, content, drafts), 0o600, false),
        )
    const text = rewrite(main, (directive) =>
      includesOurs(directive, settings) ? included.map(includeOf).join(' ') : undefined,
    )
    const led = others.size === 0 ? text : drafted.led(text)
    for (const [path, draft] of drafted.written) await withEdgeFaults(path, () => createFile(path, draft, 0o600, false))
    await withEdgeFaults(shadow, () => createFile(shadow, led, 0o600, false))
    const refusal = await test(shadow)
    return refusal?.file === undefined
      ? refusal
      : {
          ...refusal,
          file: drafted.originalOf(refusal.file) ?? liveName(settings, folder, drafts, shadow, refusal.file),
        }
  } finally {
    await Promise.all([shadow, ...drafts.values(), ...drafted.written.keys()].map((path) => rm(path, { force: true })))
  }
}

/** The files of our folder that nginx includes, in its order. The administrator may have added a file there. */
const includedFiles = (folder: string): string[] =>
  [...new Set([BASE_FILE, ...readdirSync(folder).filter((name) => name.endsWith('.conf') && !name.startsWith('.'))])]
    .toSorted()
    .map((name) => join(folder, name))

/** A released file names its certificate and key by path. In the test they are drafts, too. */
const namingDrafts = (folder: string, content: string, drafts: ReadonlyMap<string, string>): string =>
  [...drafts].reduce((text, [path, draft]) => text.replaceAll(releasedPlace(folder, path), draft), content)

/** The path that a tested file would have. */
function liveName(
  { config, folder: edgeFolder }: EdgeSettings,
  folder: string,
  drafts: ReadonlyMap<string, string>,
  shadow: string,
  file: string,
): string {
  if (file === shadow) return config
  const [released] = [...drafts].find(([, draft]) => draft === file) ?? []
  if (released !== undefined) return placeOf(edgeFolder, released)
  if (file === join(folder, BASE_FILE)) return join(edgeFolder, BASE_FILE)
  return file.startsWith(`${folder}/`) ? join(edgeFolder, CURRENT, file.slice(folder.length + 1)) : file
}
