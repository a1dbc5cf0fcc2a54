<?php
// Settings of the WordPress that start.sh runs; what differs from run to run comes from its environment.

define('DB_HOST', 'localhost:' . getenv('WORDPRESS_SOCKET'));
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_CHARSET', 'utf8mb4');
$table_prefix = 'wp_';

define('WP_HOME', getenv('WORDPRESS_URL'));
define('WP_SITEURL', getenv('WORDPRESS_URL'));
define('WP_DEFAULT_THEME', 'plain');
// Application passwords are refused over plain HTTP everywhere else.
define('WP_ENVIRONMENT_TYPE', 'local');

define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);

if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
