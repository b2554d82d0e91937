import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Gathered, partOf, placesOf } from '../../../src/edge/config/gathered.ts'
import { renderBase } from '../../../src/edge/config/render-base.ts'
import { recordOf, renderLines } from '../../../src/edge/config/render-lines.ts'
import { renderSite } from '../../../src/edge/config/render-site.ts'
import type { Site } from '../../../src/edge/contract.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
import { enter, stage } from '../../../src/edge/generations/stage.ts'
import type { EntryLayout } from '../../../src/edge/settings.ts'
import { systemClock } from '../../../src/primitives/clock.ts'

const LISTENING = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }
const PLAN = `plan_${'a'.repeat(26)}`

export interface Entry {
  readonly host: string
  readonly target?: string
  readonly tls?: boolean
  readonly layout?: EntryLayout
}

/** Enters a generation with further entries, as an apply would, without nginx. Certificates are left out. */
export async function enterGeneration(
  folder: string,
  entries: readonly Entry[],
  listen: readonly string[] = LISTENING.listen,
): Promise<void> {
  for (const path of ['generations', '.staging']) mkdirSync(join(folder, path), { recursive: true })
  const present = new PresentGeneration(folder)
  const texts = new Map<string, Gathered>()
  for (const { path, content } of entries.flatMap(filesOf)) {
    for (const place of placesOf(path)) {
      const gathered = texts.get(place.file) ?? present.copy(place.file) ?? new Gathered(place.file)
      texts.set(place.file, gathered)
      gathered.put(place.key, partOf(content, place))
    }
  }
  const staged = await stage(folder, {
    clock: systemClock,
    from: present.number,
    texts: new Map([...texts].map(([file, gathered]) => [file, gathered.text])),
    base: (generation) =>
      renderBase({ ...LISTENING, listen, folder }, { ...generation, serves: { http: true, https: true } }),
  })
  await staged.durable
  await enter(folder, staged)
}

function filesOf({ host, target = 'http://192.168.45.25:3000', tls = false, layout = 'lines' }: Entry) {
  const site: Site = { host, planId: PLAN, target }
  const files = renderSite(site, LISTENING, layout)
  const lines = renderLines({ ...recordOf(site), tls: true })
  return tls && layout === 'lines' ? files.map((file) => ({ ...file, content: lines })) : files
}
