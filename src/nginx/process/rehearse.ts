import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { withEdgeFaults } from '../../edge/faults.ts'
import { BASE_FILE, SHADOW_PREFIX } from '../../estate/layout.ts'
import { includeOf } from '../../estate/reading/include-drafts.ts'
import { includesOurs, readMainFile } from '../../estate/reading/main-file.ts'
import { type Refusal, refusalText } from '../../estate/reading/refusal.ts'
import { rewrite } from '../../estate/reading/text/directives.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { createFile } from '../../primitives/durable-file.ts'
import { renderBase } from '../config/render-base.ts'
import type { Listening } from '../config/sockets.ts'
import { listeningReader } from './neighbours.ts'
import { testConfiguration } from './nginx-program.ts'

/** Rejects if `prepare` would reject because of nginx's configuration. Changes nothing. */
export async function rehearsePrepare(settings: EdgeSettings, signal?: AbortSignal): Promise<void> {
  const main = await readMainFile(settings)
  await rehearseBase(settings, await listeningReader(settings)(), main, signal)
}

/**
 * Tests nginx's configuration with our base file, as `prepare` would write it. Changes nothing. `main`: the text of the main file,
 * which includes our folder. Rejects with `config_broken` if nginx would not load it. During the test, a copy of the main file is
 * in its folder.
 */
export async function rehearseBase(
  settings: EdgeSettings,
  listening: Listening,
  main: string,
  signal?: AbortSignal,
): Promise<void> {
  const refusal = await testedWith(settings, baseFor(settings, listening), main, signal)
  if (refusal) throw refusedBase(settings.server, refusal)
}

export const refusedBase = (server: string, refusal: Refusal): EdgeFault =>
  new EdgeFault(
    'config_broken',
    refusalText(refusal, `nginx on edge ${server} rejected its configuration with Drawbridge's base file`),
  )

/** A base file with every kind of server, but without hosts. */
const baseFor = (settings: EdgeSettings, listening: Listening): string =>
  renderBase(
    { ...listening, folder: settings.folder },
    {
      number: 0,
      folder: join(settings.folder, 'generations', '0'),
      serves: { http: true, https: true },
    },
  )

async function testedWith(
  settings: EdgeSettings,
  base: string,
  main: string,
  signal: AbortSignal | undefined,
): Promise<Refusal | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-rehearsal-'))
  const draft = join(folder, BASE_FILE)
  const shadow = join(dirname(settings.config), `${SHADOW_PREFIX}${randomBytes(8).toString('hex')}`)
  try {
    await createFile(draft, base, 0o600, false)
    const text = rewrite(main, (directive) => (includesOurs(directive, settings) ? includeOf(draft) : undefined))
    await withEdgeFaults(shadow, () => createFile(shadow, text, 0o600, false))
    const refusal = await testConfiguration(settings, shadow, signal)
    if (refusal?.file === shadow) return { ...refusal, file: settings.config }
    return refusal?.file === draft ? { ...refusal, file: join(settings.folder, BASE_FILE) } : refusal
  } finally {
    await rm(shadow, { force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}
