import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeReader } from '../../../src/edge/served.ts'
import { edgeReader } from '../../../src/estate/reading/edge-reader.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../temp-folder.ts'
import { until } from '../until.ts'

/** A folder with an nginx configuration for one test, and a reader of it. */
export interface NginxFiles extends Disposable {
  readonly folder: string
  readonly config: string
  readonly reader: EdgeReader
  path(name: string): string
  write(files: Readonly<Record<string, string>>): void
  remove(name: string): void
}

/** Names are relative to the folder; the main file is `nginx.conf`. */
export function nginxFiles(files: Readonly<Record<string, string>>): NginxFiles {
  const folder = tempFolder()
  const path = (name: string) => join(folder.path, name)
  const write: NginxFiles['write'] = (written) => {
    for (const [name, text] of Object.entries(written)) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
    }
  }
  write(files)
  const config = path('nginx.conf')
  return {
    folder: folder.path,
    config,
    reader: edgeReader({ config, pidFile: path('nginx.pid'), folder: path('drawbridge'), clock: systemClock }),
    path,
    write,
    remove: (name) => rmSync(path(name), { recursive: true }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

/** What has just been written may be written again within the same tick of the clock: the reader reads it again until then. */
export async function settled(reader: EdgeReader): Promise<void> {
  await until('two readings are the same', async () => {
    const first = await reader.read()
    return (await reader.read()) === first
  })
}
