import type { SiteDirective } from '../site-text.ts'

/** The blocks around a directive, outermost first: the http block, the server, locations. */
export type Chain = readonly (readonly SiteDirective[])[]

/** The directives of these names in the innermost block that has one. Such a block inherits none of them. */
export const innermost = (chain: Chain, ...wanted: readonly string[]): readonly SiteDirective[] =>
  chain
    .toReversed()
    .map((block) => block.filter(({ name }) => wanted.includes(name)))
    .find((found) => found.length > 0) ?? []

/** The access rules of the innermost blocks. Equal texts admit the same visitors. */
export function restrictionsOf(chain: Chain): string {
  const [realm] = valuesOf(innermost(chain, 'auth_basic'))
  const isOpen = realm === undefined || realm === 'auth_basic off'
  const access = valuesOf(innermost(chain, 'allow', 'deny'))
  return JSON.stringify([
    access.every((value) => value === 'allow all') ? [] : access,
    isOpen ? [] : [realm, ...innermost(chain, 'auth_basic_user_file').map(({ args }) => args[0])],
  ])
}

const valuesOf = (directives: readonly SiteDirective[]): readonly string[] =>
  directives.map(({ name, args }) => `${name} ${args[0]?.toLowerCase()}`)
