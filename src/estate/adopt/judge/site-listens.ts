import { parseListens } from '../../reading/text/listen.ts'
import type { SiteDirective } from '../site-text.ts'
import { newAddresses } from './site-addresses.ts'
import type { SiteFindings } from './site-findings.ts'
import type { SiteWorld } from './site-world.ts'

/** The visitors of a block: with TLS, without TLS, or both. */
export type Served = 'tls' | 'plain' | 'both'

/** Where a server block listens. */
export function placesOf({ block = [] }: SiteDirective): Places {
  const lines = block.filter(({ name }) => name === 'listen')
  const isOn = block.some(({ name, args }) => name === 'ssl' && args[0] === 'on')
  return parseListens(
    lines.map(({ args }) => args),
    isOn,
  )
}

type Places = ReturnType<typeof parseListens>

export const isForTls = (places: Places): boolean => places.some(({ isTls }) => isTls)
export const isForPlainText = (places: Places): boolean => places.length === 0 || places.some(({ isTls }) => !isTls)

/** Compares where a site listens with where an exposure would listen. */
export class SiteListens {
  readonly #world: SiteWorld
  readonly #findings: SiteFindings

  constructor(world: SiteWorld, findings: SiteFindings) {
    this.#world = world
    this.#findings = findings
  }

  /**
   * Adopting must not open a site to visitors who could not reach its addresses before. A block without TLS beside one with TLS
   * only redirects, so it does not count.
   */
  addresses(blocks: readonly SiteDirective[], tls: boolean): void {
    for (const block of blocks) if (this.#world.firsts?.has(block)) this.#findings.change(block, FIRST)
    const isFor = tls ? isForTls : isForPlainText
    const some = blocks.filter((block) => isFor(placesOf(block)))
    const places = some.flatMap((block) => placesOf(block)).filter(({ isTls }) => isTls === tls)
    const line = some.flatMap(({ block = [] }) => block).find(({ name }) => name === 'listen')
    if (!line || some.some((block) => placesOf(block).length === 0)) return
    const found = newAddresses(places, this.#world.listen)
    if (found === 'restricted') this.#findings.refuse(line, RESTRICTED_ADDRESS)
    if (found === 'not known') this.#findings.change(line, OWN_ADDRESSES)
    if (found === 'other family') this.#findings.change(line, OTHER_FAMILY)
  }

  listens(server: SiteDirective): Served {
    const lines = (server.block ?? []).filter(({ name }) => name === 'listen')
    const places = placesOf(server)
    const { http, https } = this.#world.ports
    const bad = places.some(({ port, lastPort, isTls }) => port !== (isTls ? https : http) || lastPort !== undefined)
    if (bad || (places.length === 0 && http !== 80))
      this.#findings.refuse(lines[0] ?? server, `It listens on other ports than ${http} and ${https}.`)
    if (places.some(({ isDefault }) => isDefault))
      this.#findings.refuse(
        lines[0] ?? server,
        'It is the default server, and answers for names that no other block has.',
      )
    if (places.some(({ isProxied }) => isProxied))
      this.#findings.refuse(lines[0] ?? server, 'Its visitors come through a proxy that speaks the PROXY protocol.')
    this.#tellIpv6(lines)
    this.#tellAddress(lines)
    const isTls = places.some((place) => place.isTls)
    return isTls ? (places.every((place) => place.isTls) ? 'tls' : 'both') : 'plain'
  }

  /**
   * Our servers share a socket of both families with the site. They listen on an IPv6-only socket only if the configuration says
   * so.
   */
  #tellIpv6(lines: readonly SiteDirective[]): void {
    const { listen = [] } = this.#world
    const alone = lines.find(({ args }) => args[0]?.startsWith('[') && !args.includes('ipv6only=off'))
    if (!alone || listen.some((address) => address.includes(':'))) return
    this.#findings.change(alone, 'Drawbridge listens on no IPv6 address: such visitors reach another server.')
  }

  /** Warns about visitors of an address on which our servers do not listen. */
  #tellAddress(lines: readonly SiteDirective[]): void {
    const { listen = [] } = this.#world
    const known = new Set(listen)
    const elsewhere = lines.find(({ args: [place = ''] }) => {
      const [, address = ''] = /^(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(place) ?? []
      return address !== '' && address !== '0.0.0.0' && !known.has('0.0.0.0') && !known.has(address)
    })
    if (elsewhere && known.size > 0) this.#findings.change(elsewhere, OTHER_ADDRESS)
  }

  /** Announces what every exposed host with TLS gets. */
  tellTls(blocks: readonly SiteDirective[]): void {
    const secure = blocks.find((block) => isForTls(placesOf(block)))
    if (!secure) return
    const inside = secure.block ?? []
    const line = inside.find(({ name, args }) => name === 'listen' && args.includes('ssl')) ?? secure
    const speaksHttp2 = inside.some(
      ({ name, args }) => (name === 'listen' && args.includes('http2')) || (name === 'http2' && args[0] === 'on'),
    )
    this.#findings.change(line, speaksHttp2 ? HTTP2_IF : HTTP2_TOO)
    if (!blocks.some((block) => isForPlainText(placesOf(block)))) this.#findings.change(line, PORT_80)
  }
}

const OTHER_ADDRESS = 'Drawbridge does not listen on this address: such visitors reach another server.'
const FIRST = 'It is the first block of its socket, and answers for names that no other block has. Another one will.'
const RESTRICTED_ADDRESS =
  'It listens on addresses of its own, and Drawbridge on others: visitors who cannot reach it would.'
const OWN_ADDRESSES = 'It listens on addresses of its own. Drawbridge answers on those of its configuration.'
const OTHER_FAMILY = 'It is answered on the addresses of Drawbridge for IPv4 and IPv6, and not for one of them only.'
const HTTP2_IF = 'HTTP/2 is offered if Drawbridge has the socket alone, or if another site there offers it.'
const HTTP2_TOO = 'HTTP/2 is offered as well.'
const PORT_80 = 'HTTP is answered, too: it is redirected to HTTPS.'
