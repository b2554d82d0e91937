import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Waits for animations, because fading text has no contrast yet. Ignores endless animations. */
const settled = (page: Page) =>
  page.evaluate(() => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
    return Promise.allSettled(ending.map(({ finished }) => finished)).then(() => undefined)
  })

/** The two themes differ in nothing else. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** No accessibility fault in light or dark, and no control that only its placeholder names. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await settled(page)
    // The page has no frames. Without this, each analysis ends in a new tab.
    const axe = new AxeBuilder({ page }).setLegacyMode(true)
    if (colorScheme === 'dark') axe.withRules(RULES_OF_COLOURS)
    const { violations } = await axe.analyze()
    const found = violations.map(
      ({ id, nodes }) => `${colorScheme} ${page.url()} ${id}: ${nodes.map((node) => node.html)}`,
    )
    expect(found).toEqual([])
  }
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLInputElement>('input, select, textarea')]
      .filter((control) => !control.labels?.length && !control.getAttribute('aria-label'))
      .map((control) => control.outerHTML),
  )
  expect(unnamed).toEqual([])
}
