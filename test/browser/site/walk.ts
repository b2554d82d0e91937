import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { focused, tabTo } from './keys.ts'

/** Somebody who has a keyboard and a screen reader, and neither a pointer nor eyes. Counts the keys. */
export class Walk {
  readonly #page: Page
  /** Without the characters of names and numbers that are typed. */
  presses = 0

  constructor(page: Page) {
    this.#page = page
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.presses += 1
      await this.#page.keyboard.press(key)
    }
  }

  async type(text: string): Promise<void> {
    await this.#hear()
    await this.#page.keyboard.type(text)
  }

  /** Goes on to a control by Tab, and uses it. */
  async use(name: string | RegExp, key = 'Enter'): Promise<void> {
    this.presses += await tabTo(this.#page, name)
    await this.#hear()
    await this.press(key)
  }

  async into(name: string | RegExp, text: string): Promise<void> {
    this.presses += await tabTo(this.#page, name)
    await this.type(text)
  }

  /** By the palette, which Ctrl-K opens anywhere. */
  async goTo(text: string, option: string | RegExp): Promise<void> {
    await this.press('Control+K')
    await this.#page.getByRole('combobox', { name: 'Host, screen or act' }).waitFor()
    await this.type(text)
    await this.#page.getByRole('option', { selected: true, name: option }).waitFor()
    await this.press('Enter')
  }

  /** The screen reader says it by itself: it stands in a part of the page whose changes are announced. */
  async hears(text: string | RegExp): Promise<void> {
    const live = this.#page.locator('[role=status], [role=alert], [aria-live]').filter({ hasText: text })
    await live.first().waitFor({ state: 'attached' })
  }

  /** The tree of the browser that screen readers get. */
  async #hear(): Promise<void> {
    const session = await this.#page.context().newCDPSession(this.#page)
    try {
      const { result } = await session.send('Runtime.evaluate', { expression: 'document.activeElement' })
      const { objectId } = result
      const { nodes } = await session.send('Accessibility.getPartialAXTree', {
        ...(objectId !== undefined && { objectId }),
        fetchRelatives: false,
      })
      const [role, name] = [nodes[0]?.role?.value, nodes[0]?.name?.value]
      const here = await focused(this.#page)
      expect({ here, role, name }).toEqual({
        here,
        role: expect.stringMatching(ROLES),
        name: expect.stringMatching(/\w/),
      })
    } finally {
      await session.detach()
    }
  }
}

/** Of controls. What is `generic` says nothing of what it does. */
const ROLES = /^(button|link|textbox|searchbox|combobox|checkbox|radio|spinbutton|option)$/i
