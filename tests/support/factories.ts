/** Rows for tests: tenants, destinations, deliveries. The statements are in sql.ts. */
export {
  type DeliveryOptions,
  type DestinationOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
  TEST_KEYRING,
  TEST_SECRET_KEYS,
  TEST_SIGNING_SECRET,
  type TenantOptions,
} from "./sql.ts";
