import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** A theme, the width of the window if the screen depends on it, and which rules are checked. */
export interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  /** The themes differ only in colours, so the other rules are checked in one of them. */
  readonly rules: 'all' | 'colours'
}

/** One width for each theme. */
export const USUAL_LOOKS: readonly Look[] = [
  { colorScheme: 'light', width: 320, rules: 'all' },
  { colorScheme: 'dark', width: 1280, rules: 'colours' },
]
export const ALL_LOOKS: readonly Look[] = [320, 768, 1280, 3840].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ colorScheme, width, rules: 'all' as const })),
)
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block']

export async function lookAt(page: Page, { colorScheme, width }: Look): Promise<void> {
  await page.setViewportSize({ width, height: width > 2000 ? 2160 : 800 })
  await page.emulateMedia({ colorScheme })
}

/** Waits for animations, because fading text has no contrast yet. Ignores endless animations. */
const settled = (page: Page) =>
  page.evaluate(() => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
    return Promise.allSettled(ending.map(({ finished }) => finished)).then(() => undefined)
  })

/** No accessibility fault in light or dark, and no control that only its placeholder names. The window ends as it was. */
export async function expectAccessible(page: Page, looks: readonly Look[] = USUAL_LOOKS): Promise<void> {
  const before = page.viewportSize()
  for (const look of looks) {
    await lookAt(page, look)
    await settled(page)
    expect(await faultsOf(page, look), `${page.url()} ${look.colorScheme} ${look.width}`).toEqual([])
  }
  if (before) await page.setViewportSize(before)
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLInputElement>('input, select, textarea')]
      .filter((control) => !control.labels?.length && !control.getAttribute('aria-label'))
      .map((control) => control.outerHTML),
  )
  expect(unnamed).toEqual([])
}

async function faultsOf(page: Page, { rules }: Look): Promise<readonly string[]> {
  // The script is large, so a document gets it once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  return page.evaluate(
    async (only) => {
      // What is behind an open dialog is a screen that is checked without it.
      const shown = document.querySelector('dialog[open]') ?? document
      const { violations } = await window.axe.run(shown, { ...only, resultTypes: ['violations'] })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
    },
    rules === 'colours' ? { runOnly: RULES_OF_COLOURS } : {},
  )
}

declare global {
  interface Window {
    readonly axe: typeof axe
  }
}
