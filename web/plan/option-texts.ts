import {
  type ExposureOptions,
  HEADER_NAMES,
  type Maintenance,
  type StrictTransport,
} from '../../src/model/options/grammar.ts'
import { readOptions } from '../../src/model/options/read-options.ts'

/** What the controls of the options hold, by the path of the option. A control that is not touched has no entry. */
export type OptionTexts = Readonly<Record<string, string>>

export const ON = 'on'
export const OFF = 'off'

/** The texts of options that exist. */
export function textsOf(options: ExposureOptions | undefined): OptionTexts {
  if (!options) return {}
  const { maxBody, timeouts = {}, websocket, buffering, headers = {}, allow, basicAuth, backendTls } = options
  const { hsts, ...words } = headers
  return defined({
    maxBody,
    ...under('timeouts', timeouts),
    websocket: websocket === false ? OFF : undefined,
    buffering: buffering === false ? OFF : undefined,
    ...under('headers', words),
    'headers.hsts.maxAge': hsts && String(hsts.maxAge),
    'headers.hsts.includeSubDomains': hsts?.includeSubDomains ? ON : undefined,
    'headers.hsts.preload': hsts?.preload ? ON : undefined,
    allow: allow?.join(', '),
    basicAuth,
    ...under('backendTls', backendTls ?? {}),
    backends: options.backends?.map(({ server, port }) => `${server}:${port}`).join(', '),
    maintenance: options.maintenance && ON,
    'maintenance.retryAfter': options.maintenance?.retryAfter?.toString(),
    snippets: options.snippets?.join(', '),
  })
}

/** The options that the texts ask for. What is not valid is in them as it was typed: `errorsIn` finds it. */
export function optionsOf(texts: OptionTexts): ExposureOptions | undefined {
  const hsts = defined({
    maxAge: numberIn(texts['headers.hsts.maxAge']),
    includeSubDomains: texts['headers.hsts.includeSubDomains'] === ON ? true : undefined,
    preload: texts['headers.hsts.preload'] === ON ? true : undefined,
  })
  const options = defined({
    maxBody: texts.maxBody,
    timeouts: some({
      connect: numberIn(texts['timeouts.connect']),
      read: numberIn(texts['timeouts.read']),
      send: numberIn(texts['timeouts.send']),
    }),
    websocket: texts.websocket === OFF ? false : undefined,
    buffering: texts.buffering === OFF ? false : undefined,
    headers: some({
      hsts: some(hsts) as StrictTransport | undefined,
      ...Object.fromEntries(HEADER_NAMES.map((name) => [name, texts[`headers.${name}`]])),
    }),
    allow: listIn(texts.allow),
    basicAuth: texts.basicAuth,
    backendTls: some({ authority: texts['backendTls.authority'], name: texts['backendTls.name'] }),
    backends: listIn(texts.backends)?.map((one) => {
      const [server = '', port = ''] = one.split(':')
      return { server, port: numberIn(port) ?? port }
    }),
    maintenance:
      texts.maintenance === ON
        ? (defined({ retryAfter: numberIn(texts['maintenance.retryAfter']) }) as Maintenance)
        : undefined,
    snippets: listIn(texts.snippets),
  })
  return some(options) as ExposureOptions | undefined
}

const NETWORK = /^[0-9a-f.:]+\/[0-9]{1,3}$/i
const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i

/**
 * What is wrong, by the path of the option. The service checks by the same rules; networks and names are checked there in full, because
 * reading them needs Node.
 */
export function errorsIn(texts: OptionTexts): Readonly<Record<string, string>> {
  const { allow, 'backendTls.name': name, ...others } = texts
  const { errors = [] } = { errors: undefined, ...readOptions(optionsOf(others) ?? {}) }
  const found = errors.map(({ field, message }) => [pathOf(field), `This ${message}.`] as const)
  const networks = listIn(allow) ?? []
  return {
    ...Object.fromEntries(found),
    ...(!networks.every((one) => NETWORK.test(one)) && { allow: 'Networks such as 10.0.0.0/8 or 2001:db8::/32.' }),
    ...(name && !NAME.test(name) && { 'backendTls.name': 'This must be a DNS name.' }),
    ...(name && texts['backendTls.authority'] === undefined && { 'backendTls.authority': 'This is missing.' }),
  }
}

/** `options.allow.0` is about the control of `allow`. */
export const pathOf = (field: string): string => field.replace(/^options\./, '').replace(/\.\d+(?:\..*)?$/, '')

const numberIn = (text: string | undefined): number | string | undefined =>
  text === undefined || text === '' ? undefined : /^[0-9]+$/.test(text) ? Number(text) : text

const listIn = (text: string | undefined): string[] | undefined => {
  const items = (text ?? '').split(/[\s,]+/).filter(Boolean)
  return items.length === 0 ? undefined : items
}

const under = (above: string, members: object): Record<string, string> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${above}.${name}`, String(value)]))

const defined = <T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== '')) as {
    [Name in keyof T]: Exclude<T[Name], undefined>
  }

const some = (members: object): object | undefined => {
  const known = defined(members)
  return Object.keys(known).length === 0 ? undefined : known
}
