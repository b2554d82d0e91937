import type { SiteDirective } from '../site-text.ts'

/** The names of a server block, in lower case. */
export const namesOf = ({ block = [] }: SiteDirective): readonly string[] =>
  block.filter(({ name }) => name === 'server_name').flatMap(({ args }) => args.map((arg) => arg.toLowerCase()))

export const isForAll = ({ args }: SiteDirective): boolean =>
  args.at(-1) === '/' && (args.length === 1 || args[0] === '^~')

export const unreadIn = (block: readonly SiteDirective[]): SiteDirective[] =>
  block.flatMap((each) => (each.unread === undefined ? unreadIn(each.block ?? []) : [each]))

/** The content of a server block, without its `listen` directives. */
export const answerOf = ({ block = [] }: SiteDirective): string =>
  JSON.stringify(block.filter(({ name }) => name !== 'listen').map(wordsOf))

const wordsOf = ({ name, args, block }: SiteDirective): unknown => [name, args, block?.map(wordsOf)]

/** Every `proxy_pass` except those for challenges. */
export const passesIn = (block: readonly SiteDirective[]): SiteDirective[] =>
  block.flatMap((each) => {
    if (each.name === 'location' && isChallenge(each.args)) return []
    return each.name === 'proxy_pass' ? [each] : passesIn(each.block ?? [])
  })

export const isChallenge = (args: readonly string[]): boolean =>
  (args.at(-1) ?? '').startsWith('/.well-known/acme-challenge')

/** certbot's `return 404` behind its redirect is never reached. */
export const isEndOfRedirect = ({ name, args }: SiteDirective): boolean => name === 'return' && args[0] === '404'

/** Lua programs that run for requests. */
export const isProgram = (name: string): boolean => /_by_lua/.test(name) && !/^(init|exit|ssl)_/.test(name)
