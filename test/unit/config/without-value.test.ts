import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { configSchema } from '../../../src/config/config.ts'
import { edgeAgentSchema, readEdgeAgentConfig } from '../../../src/config/edge-agent.ts'
import { readExposures } from '../../../src/config/exposures-file.ts'
import { configOf, secretFile } from '../../support/config.ts'

type Place = readonly string[]

/** The places of all lists of a schema, with `KEY` where the administrator chooses the key. */
function listsIn(schema: TSchema, place: Place = []): Place[] {
  if (Type.IsArray(schema)) return [place]
  if (Type.IsRecord(schema))
    return Object.values(schema.patternProperties).flatMap((member) => listsIn(member, [...place, 'KEY']))
  if (!Type.IsObject(schema)) return []
  return Object.entries(schema.properties).flatMap(([key, member]) => listsIn(member, [...place, key]))
}

/** A file with this key at its end, with nothing but a comment below it. */
function withoutValue(place: Place): string {
  const lines = place.map((key, depth) => `${'  '.repeat(depth)}${key}:`)
  return `# A line above.\n${lines.join('\n')}\n${'  '.repeat(place.length)}# - an item that is commented out\n`
}

function faultsOf(read: () => unknown): string {
  try {
    read()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const sentenceOf = (place: Place): string => `:${place.length + 1}: ${place.join('.')} has no value. Write `

describe('a list whose key has no value is refused with its line', () => {
  const service = listsIn(configSchema('.'))
  const edge = listsIn(edgeAgentSchema('.'))

  test('the lists of both files are known', () => {
    const named = (places: Place[]) => places.map((place) => place.join('.'))
    expect(named(service)).toEqual(expect.arrayContaining(['internalNetworks', 'servers.targets', 'ports.allowed']))
    expect(named(service)).toEqual(expect.arrayContaining(['webhooks.KEY.events', 'zones.KEY.publish.a']))
    expect(named(edge)).toEqual(['nginx.listen', 'targets.addresses', 'targets.ports', 'zones'])
  })

  test.each(service.map((place) => [place.join('.'), place] as const))('drawbridge.yaml: %s', (_, place) =>
    expect(faultsOf(() => configOf(withoutValue(place)))).toContain(`drawbridge.yaml${sentenceOf(place)}`),
  )

  test.each(edge.map((place) => [place.join('.'), place] as const))('edge.yaml: %s', (_, place) =>
    expect(faultsOf(() => readEdgeAgentConfig(withoutValue(place), 'edge.yaml'))).toContain(
      `edge.yaml${sentenceOf(place)}`,
    ),
  )

  test('the exposures of a file', () =>
    expect(() => readExposures(secretFile('exposures:\n'))).toThrow(':1: exposures has no value. Write [] for none'))
})

const ZONES = 'zones: { example.test: { primary: 192.168.45.253 } }\n'

test('the sentence says what to write', () => {
  const sentence =
    '/etc/drawbridge/drawbridge.yaml:2: internalNetworks has no value. Write [] for none, or delete the line.'
  for (const nothing of ['internalNetworks:', 'internalNetworks: ~', 'internalNetworks: null', '? internalNetworks'])
    expect(faultsOf(() => configOf(`${ZONES}${nothing}\n`))).toBe(sentence)
  expect(faultsOf(() => readEdgeAgentConfig('zones:\n', 'edge.yaml'))).toContain(
    'edge.yaml:1: zones has no value. Write a list of names of zones',
  )
})

test.each(['edges', 'servers.addresses'])('so is %s, whose default is not empty', (name) => {
  const place = name.split('.')
  expect(faultsOf(() => configOf(withoutValue(place)))).toContain(`${sentenceOf(place)}{} for none`)
})

/** Nothing below these keys means the same as no key: their defaults, or none. */
test('sections, single values and mappings that are empty by default may have no value', () => {
  const settings = { listen: null, webhooks: null, status: { hosts: null }, flow: null, adminTokenFile: null }
  expect(configOf(`${ZONES}${stringify(settings)}`)).toEqual(configOf(ZONES))
})
