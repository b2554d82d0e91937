import type { SiteDirective } from '../site-text.ts'
import { toldBy, verdictOf } from './directive-table.ts'
import type { Chain } from './restrictions.ts'
import { OWN_REDIRECTS } from './site-backends.ts'
import type { SiteFindings } from './site-findings.ts'

/** Judges directives that no option of an exposure covers. */
export class SiteDirectives {
  readonly #http: readonly SiteDirective[]
  readonly #findings: SiteFindings

  /** `http`: the content of the http block without its servers. */
  constructor(http: readonly SiteDirective[], findings: SiteFindings) {
    this.#http = http
    this.#findings = findings
  }

  /** `chain`: the blocks around it. */
  judge(directive: SiteDirective, chain: Chain): void {
    const { name, args } = directive
    const value = args[0]?.toLowerCase() ?? ''
    if (name === 'proxy_redirect' && value === 'off')
      this.#findings.change(directive, OWN_REDIRECTS, 'answer location', 'answer refresh')
    // `allow all` has no effect if no block around it denies access.
    else if (name === 'allow' && value === 'all' && !chain.flat().some((each) => each.name === 'deny'))
      this.#findings.carry(directive)
    else this.tell(directive, this.#isSameValue(name, value) ? { kind: 'same' } : verdictOf(name))
  }

  tell(directive: SiteDirective, verdict: ReturnType<typeof verdictOf>): void {
    const told = toldBy(directive.name, directive.args) ?? (verdict.kind === 'same' ? [] : (verdict.told ?? []))
    if (verdict.kind === 'lost') this.#findings.lose(directive, verdict.sentence, ...told)
    if (verdict.kind === 'changed') this.#findings.change(directive, verdict.sentence, ...told)
    if (verdict.kind === 'refused') this.#findings.refuse(directive, verdict.sentence)
    if (verdict.kind === 'same') this.#findings.carry(directive)
  }

  /** An entry does not set this directive, and inherits the value of the http block. */
  #isSameValue(name: string, value: string): boolean {
    const same = SAME_VALUES[name] ?? []
    const around = this.#http.filter((each) => each.name === name).map(({ args }) => args[0]?.toLowerCase() ?? '')
    return [value, ...around].every((one) => same.includes(one))
  }
}

/** Values that an exposure uses, too. */
const SAME_VALUES: Readonly<Record<string, readonly string[]>> = {
  proxy_connect_timeout: ['5s', '5'],
  proxy_send_timeout: ['60s', '60', '1m'],
  proxy_read_timeout: ['300s', '300', '5m'],
  proxy_buffering: ['on'],
  proxy_request_buffering: ['on'],
  proxy_redirect: ['default'],
  proxy_pass_request_headers: ['on'],
  proxy_pass_request_body: ['on'],
  ssl_verify_client: ['off'],
}
