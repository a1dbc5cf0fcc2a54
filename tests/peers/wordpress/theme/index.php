<!doctype html>
<html <?php language_attributes(); ?>>
<head><meta charset="utf-8"><?php wp_head(); ?></head>
<body>
<?php while (have_posts()) : the_post(); ?>
<article><h1><?php the_title(); ?></h1><?php the_post_thumbnail(); the_content(); ?></article>
<?php endwhile; wp_footer(); ?>
</body>
</html>
