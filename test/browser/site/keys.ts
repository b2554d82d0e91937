import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** The accessible name of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!element) return ''
    const isField = element instanceof HTMLInputElement || element instanceof HTMLSelectElement
    const words = ((isField && element.labels?.[0]) || element).cloneNode(true) as Element
    for (const hidden of words.querySelectorAll('[aria-hidden=true]')) hidden.remove()
    return (element.getAttribute('aria-label') ?? words.textContent ?? '').trim()
  })

const MOST_TABS = 80

/** Moves the focus to a control as a person does who has no mouse, and resolves with how often Tab was pressed. The focus must be visible there. */
export async function tabTo(page: Page, name: string | RegExp): Promise<number> {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    const here = await focused(page)
    if (typeof name === 'string' ? here === name : name.test(here)) {
      expect({ name, isVisible: await isFocusVisible(page) }).toEqual({ name, isVisible: true })
      return tabs
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached by ${MOST_TABS} tabs`)
}

export async function pressOn(page: Page, name: string | RegExp, key = 'Enter'): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press(key)
}

/** Opens a dialog, leaves it by Esc, and opens it again: the focus comes back to the button each time. */
export async function openDialog(page: Page, button: string, title: string): Promise<Locator> {
  await pressOn(page, button)
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await focused(page)).toBe(button)
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  return dialog
}

/** Whether the focused element or what frames it has a ring. An input can be hidden below a label that is drawn instead. */
const isFocusVisible = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const hasRing = (element: Element) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
    }
    const element = document.activeElement
    const around = [element, element?.closest('label'), element?.closest('[role=row]'), element?.parentElement]
    return around.some((one) => one && hasRing(one))
  })
