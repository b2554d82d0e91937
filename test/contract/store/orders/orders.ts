import { describe, expect } from 'vitest'
import type { OrderRecord } from '../../../../src/model/ledger.ts'
import type { Bench } from '../../engines.ts'
import { NOW } from '../../samples.ts'

export const orderSuite = (on: Bench) =>
  describe('orders', () => {
    const order: OrderRecord = {
      names: 'shop.lab.test,www.shop.lab.test',
      directory: 'https://ca.test/dir',
      url: 'https://ca.test/order/1',
      keyFile: 'keys/1.pem',
      createdAt: NOW,
    }

    on.it('are read as they were written, by names and directory', async (store) => {
      await store.putOrder(order)
      expect(await store.findOrder(order.names, order.directory)).toStrictEqual(order)
      expect(await store.findOrder('shop.lab.test', order.directory)).toBeUndefined()
      expect(await store.findOrder(order.names, 'https://other.test/dir')).toBeUndefined()
    })

    on.it('replace only the earlier one for the same names and directory', async (store) => {
      const elsewhere = { ...order, directory: 'https://other.test/dir' }
      const later = { ...order, url: 'https://ca.test/order/2', keyFile: 'keys/2.pem', createdAt: NOW + 1 }
      for (const each of [order, elsewhere, later]) await store.putOrder(each)
      expect(await store.findOrder(order.names, order.directory)).toStrictEqual(later)
      expect(await store.findOrder(order.names, elsewhere.directory)).toStrictEqual(elsewhere)
    })

    on.it('can be deleted more than once', async (store) => {
      const elsewhere = { ...order, directory: 'https://other.test/dir' }
      await store.putOrder(order)
      await store.putOrder(elsewhere)
      for (let i = 0; i < 2; i++) await store.deleteOrder(order.names, order.directory)
      expect(await store.findOrder(order.names, order.directory)).toBeUndefined()
      expect(await store.findOrder(elsewhere.names, elsewhere.directory)).toStrictEqual(elsewhere)
    })
  })
