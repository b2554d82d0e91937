import type { Adoption, SiteFinding } from '../../../model/options/adoption.ts'
import type { SiteDirective } from '../site-text.ts'

/** The findings about the directives of a site, each finding once. */
export class SiteFindings {
  readonly #carried: SiteFinding[] = []
  readonly #changed: SiteFinding[] = []
  readonly #lost: SiteFinding[] = []
  readonly #refused: SiteFinding[] = []
  /** The differences that the findings announce, in the rehearsal's names. */
  readonly told = new Set<string>()

  get isRefused(): boolean {
    return this.#refused.length > 0
  }

  carry = (directive: SiteDirective, sentence = 'An exposure does the same.') =>
    void this.#carried.push(finding(directive, sentence))
  change = (directive: SiteDirective, sentence: string, ...told: string[]) =>
    this.#tell(this.#changed, directive, sentence, told)
  lose = (directive: SiteDirective, sentence: string, ...told: string[]) =>
    this.#tell(this.#lost, directive, sentence, told)
  refuse = (directive: SiteDirective, sentence: string) => this.#tell(this.#refused, directive, sentence, [])

  lists(): Pick<Adoption, 'carried' | 'changed' | 'lost' | 'refused'> {
    return {
      carried: inOrder(this.#carried),
      changed: inOrder(this.#changed),
      lost: inOrder(this.#lost),
      refused: inOrder(this.#refused),
    }
  }

  /** Adds a finding once: a directive of the server is in effect in every location. */
  #tell(findings: SiteFinding[], directive: SiteDirective, sentence: string, told: readonly string[]): void {
    for (const one of told) this.told.add(one)
    const found = finding(directive, sentence)
    const isSame = (each: SiteFinding) => JSON.stringify(each) === JSON.stringify(found)
    if (!findings.some(isSame)) findings.push(found)
  }
}

/** Shows only names of known directives of nginx and its modules. Any other name could be private text. */
const finding = ({ name, path, line }: SiteDirective, sentence: string): SiteFinding => ({
  directive: /^[a-z0-9_]{1,60}$/.test(name) ? name : 'directive',
  file: path,
  line,
  sentence,
})

/** Sorted by line. Files keep the order in which nginx reads them. */
const inOrder = (findings: readonly SiteFinding[]): SiteFinding[] =>
  [...Map.groupBy(findings, ({ file }) => file).values()].flatMap((some) => some.toSorted((a, b) => a.line - b.line))
