import { everyState } from './demo/demonstration.ts'
import { allPictures } from './demo/pictures.ts'
import { oneSite, test } from './site/page-test.ts'
import { goTo, TALL } from './site/steps.ts'
import { accessInFull } from './status/access.ts'

/** A campaign: `npm run campaign -- pictures` makes the pictures of the documents again, and checks every width and theme. */
oneSite()

test('pictures of every screen', async ({ demo: _demo, open }) => {
  const page = await open('/help', 'inside', TALL)
  await goTo(page, '/')
  await everyState(page)
  await page.getByRole('button', { name: 'Got it' }).click()
  await allPictures(page)
})

accessInFull()
