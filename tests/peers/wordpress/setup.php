<?php
// Fills the empty database as the installer's pages would, then adds the author the tests sign in as.
// Run in the site's folder; prints the JSON line of start.sh.

define('WP_INSTALLING', true);
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['HTTP_HOST'] = parse_url(getenv('WORDPRESS_URL'), PHP_URL_HOST);
$_SERVER['REQUEST_URI'] = '/';

// The installer would send this by e-mail.
function wp_new_blog_notification()
{
}

require getcwd() . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

function orFail($result)
{
    if (is_wp_error($result)) {
        fwrite(STDERR, $result->get_error_message() . "\n");
        exit(1);
    }
    return $result;
}

wp_install('Fanfare test site', 'admin', 'admin@example.test', true, '', wp_generate_password(24, false));
$wp_rewrite->set_permalink_structure('/%postname%/');
$wp_rewrite->flush_rules(false);

$author = orFail(wp_insert_user([
    'user_login' => 'author',
    'user_email' => 'author@example.test',
    'user_pass' => wp_generate_password(24, false),
    'role' => 'author',
]));
[$password] = orFail(WP_Application_Passwords::create_new_application_password($author, ['name' => 'fanfare']));

echo json_encode([
    'url' => getenv('WORDPRESS_URL'),
    'username' => 'author',
    // In groups of four, as the profile page shows it.
    'application_password' => WP_Application_Passwords::chunk_password($password),
], JSON_UNESCAPED_SLASHES), "\n";
