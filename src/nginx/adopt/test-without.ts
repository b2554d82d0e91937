import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { withEdgeFaults } from '../../edge/faults.ts'
import type { TakenOut } from '../../estate/adopt/take-out.ts'
import { SHADOW_PREFIX } from '../../estate/layout.ts'
import { Drafts } from '../../estate/reading/include-drafts.ts'
import type { Refusal } from '../../estate/reading/refusal.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { createFile } from '../../primitives/durable-file.ts'
import { testConfiguration } from '../process/nginx-program.ts'

/**
 * Tests nginx's configuration as if some files had another text. Changes none of them. During the test, a copy of the main file is
 * in its folder, because relative paths start there.
 */
export async function testWithout(
  settings: Pick<EdgeSettings, 'config' | 'binary' | 'prefix' | 'clock'>,
  changed: TakenOut,
): Promise<Refusal | undefined> {
  const { config } = settings
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-without-'))
  const shadow = join(dirname(config), `${SHADOW_PREFIX}${process.pid}-${randomBytes(8).toString('hex')}`)
  const drafts = new Drafts(folder, config, changed)
  try {
    const text = drafts.led(readFileSync(config, 'utf8'))
    for (const [path, draft] of drafts.written) await createFile(path, draft, 0o600, false)
    await withEdgeFaults(shadow, () => createFile(shadow, text, 0o600, false))
    const refusal = await testConfiguration(settings, shadow)
    const { file } = refusal ?? {}
    if (!refusal || file === undefined) return refusal
    return { ...refusal, file: file === shadow ? config : (drafts.originalOf(file) ?? file) }
  } finally {
    rmSync(shadow, { force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}
