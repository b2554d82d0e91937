import { renameSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadEdgeAgentConfig } from '../../../src/config/edge-agent.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { initHere } from '../../support/init-here.ts'

const DONE = 'Everything is there already. Nothing was changed.'

test('another zone is refused with every file to move away; moved, both files are written for it', async () => {
  using here = initHere()
  await here.call()
  expect(await here.call()).toContain(DONE)
  const other = { zone: 'example.org' }
  expect(await here.call(other)).toContain(
    'refused: drawbridge.yaml differs from your options (zone), and edge.yaml differs from your options (zone). ' +
      'To write them anew, move drawbridge.yaml and edge.yaml away.',
  )
  for (const name of ['drawbridge.yaml', 'edge.yaml']) renameSync(here.path('etc', name), here.path(name))
  expect(await here.call(other)).not.toContain('refused')
  expect(loadEdgeAgentConfig(here.path('etc', 'edge.yaml')).zones).toEqual(['example.org'])
  expect(await here.call(other)).toContain(DONE)
})

test('an edge.yaml that does not allow the zone is named, although drawbridge.yaml fits', async () => {
  using here = initHere()
  await here.call()
  const file = here.path('etc', 'edge.yaml')
  writeFileSync(file, here.text('etc', 'edge.yaml').replace('zones: ["example.com"]', 'zones: ["example.org"]'))
  expect(await here.call()).toContain('refused: edge.yaml differs from your options (zone).')
})

test('what is in the way of a new file is refused before anything is written; a file with the wanted text stays', async () => {
  using here = initHere()
  await here.call()
  const [config, agent] = [here.path('etc', 'drawbridge.yaml'), here.path('etc', 'edge.yaml')]
  renameSync(config, here.path('away.yaml'))
  const before = listing(here.path())
  expect(await here.call({ zone: 'example.org' })).toBe(
    `refused: ${agent} is there already and differs from what init would write. Nothing was written. ` +
      'Move it away, and call init again.',
  )
  expect(listing(here.path())).toEqual(before)
  expect(await here.call()).toContain(`${agent} is there already.`)
  expect(here.text('etc', 'drawbridge.yaml')).toBe(here.text('away.yaml'))
})

test('a file that cannot be written takes back all others', async () => {
  using here = initHere()
  writeFileSync(here.path('nginx', 'drawbridge'), 'a file in the place of the folder')
  const before = listing(here.path())
  expect(await here.call()).toMatch(
    /refused: Not every file could be written, and everything is as it was before\. EEXIST: .*nginx\/drawbridge/,
  )
  expect(listing(here.path())).toEqual(before)
})
