import type { SiteDirective } from '../site-text.ts'

/** A redirect of every path to the same path of the host by HTTPS. */
export interface SiteRedirect {
  /** Whether visitors are redirected with another status than an exposure's. */
  readonly hasOtherStatus: boolean
  /** Whether encoded paths, or odd spellings of the host, lead to another address than an exposure's redirect. */
  readonly hasOtherTarget: boolean
}

/** Undefined for any other directive, such as a redirect of one path only, to another path, or without the query. */
export function redirectOf(directive: SiteDirective, host: string, https: number): SiteRedirect | undefined {
  const { name, args, block = [] } = directive
  if (name === 'if') {
    const [first, ...more] = block
    if (!first || more.length > 0 || !(isAlways(directive, host) || isForPlain(directive))) return undefined
    return first.name === 'if' ? undefined : redirectOf(first, host, https)
  }
  const to = name === 'return' ? args[1] : name === 'rewrite' ? args[1] : undefined
  const status = name === 'return' ? args[0] : { permanent: '301', redirect: '302' }[args[2] ?? '']
  const [, target = '', port, path = ''] = /^https:\/\/([^/$:]+|\$\w+|\$\{\w+\})(?::(\d+))?(.*)$/.exec(to ?? '') ?? []
  const named = target.toLowerCase().replace(/^\$\{(\w+)\}$/, '$$$1')
  const isHere = ['$host', '$http_host', '$server_name', host].includes(named)
  const isPort = port === undefined ? https === 443 : Number(port) === https
  if (!isHere || !isPort || !/^30[1278]$/.test(status ?? '')) return undefined
  const whole = name === 'return' ? wholeOfReturn(path) : wholeOfRewrite(args[0] ?? '', path)
  if (whole === undefined) return undefined
  return { hasOtherStatus: status !== '308', hasOtherTarget: whole === 'decoded' || named === '$http_host' }
}

/** certbot writes `if ($host = name)`, which holds for every visitor of a block with one name. */
export const isAlways = ({ args }: SiteDirective, host: string): boolean =>
  conditionOf(args).toLowerCase() === `$host = ${host}`

/** Conditions that hold for visitors without TLS, and for no others. */
export const isForPlain = ({ args }: SiteDirective): boolean =>
  ['$scheme = http', '$scheme != https', '$https = ', '$https != on'].includes(conditionOf(args))

const conditionOf = (args: readonly string[]): string =>
  args.join(' ').replace(/^\( ?/, '').replace(/ ?\)$/, '').replaceAll('"', '').replace(/=$/, '= ')

const wholeOfReturn = (path: string): 'as sent' | undefined =>
  /^\$(request_uri|\{request_uri\})$/.test(path) ? 'as sent' : undefined

/** nginx decodes what a pattern captures, and adds the query. */
function wholeOfRewrite(pattern: string, path: string): 'as sent' | 'decoded' | undefined {
  const isAny = ['^', '^.*$', '.*', '^(.*)$', '^/(.*)$', '(.*)', '^(.*)', '^/(.*)'].includes(pattern)
  if (!isAny) return undefined
  if (path === '$request_uri?') return 'as sent'
  if (path === '$1' && /^\^?\(\.\*\)\$?$/.test(pattern)) return 'decoded'
  return path === '/$1' && /^\^\/\(\.\*\)\$?$/.test(pattern) ? 'decoded' : undefined
}
