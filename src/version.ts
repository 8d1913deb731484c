/** What we are, and which Redis we are. */
export const VERSION = "0.1.0";
export const REDIS_VERSION = "7.4.2";
